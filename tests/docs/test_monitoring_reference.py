"""`docs/monitoring.md` against a monitored run: its keys, spans and log lines, and no texts."""

import io
import json
import logging
from typing import get_args

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from sifaka import Chain, Document
from sifaka.calls.failure_log import report_failure
from sifaka.calls.monitoring import MOST_NAMES, Kind, Monitor
from sifaka.errors import ModelProviderError
from sifaka.retrievers.mock import MockRetriever
from sifaka_mcp.logs import JsonFormatter, LineFormatter
from tests.docs.markdown import blocks, code, prose, section, table
from tests.stubs.provider import Reply, provider, says

DOCUMENT = "docs/monitoring.md"
TEXT = "Keep the the receipt of your parcel."


Watched = tuple[tuple[ReadableSpan, ...], Monitor]


@pytest.fixture
def watched() -> Watched:
    """The spans of a run in which the first answer of the model is a version, the next an error."""
    spans = InMemorySpanExporter()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    monitor = Monitor(tracer=tracers.get_tracer("test"))
    written = says("Keep the bill of your parcel.")
    written.body["usage"]["prompt_tokens_details"] = {"cached_tokens": 8}
    refusal = Reply(status=400, body={"error": {"message": TEXT}})
    with provider([written, refusal]) as served:
        result = Chain(
            model=OpenAIChatModel(
                "stub",
                provider=OpenAIProvider(base_url=served.url, api_key="a key"),
                settings=ModelSettings(max_tokens=500, temperature=0.5),
            ),
            critics=["lint"],
            validators=[{"type": "content", "required": ["30 days"]}],
            retrievers=[MockRetriever(documents=(Document(text="a parcel of the shop"),))],
            monitor=monitor,
        ).run_sync(text=TEXT)
    assert result.status == "failed"
    assert len(served.requests) == 2
    return spans.get_finished_spans(), monitor


def test_every_key_of_the_summary_is_told(watched: Watched) -> None:
    rows = table(section(DOCUMENT, "Sums"))
    assert [code(row[0])[0] for row in rows] == list(Monitor().summary())
    summary = watched[1].summary()
    told = {key: set(code(row[1])) for key, row in zip(summary, rows, strict=True)}
    for key in ("components", "models"):
        (first, *_) = summary[key].values()
        assert told[key] - {"kind:name"} == set(first), key
    assert f"up to {MOST_NAMES}, further ones" in section(DOCUMENT, "Sums")


def test_every_kind_of_span_is_told(watched: Watched) -> None:
    rows = table(section(DOCUMENT, "Spans"))
    told = [code(row[0])[0].removeprefix("sifaka.").split()[0] for row in rows]
    # A call of a model has the name that the conventions for generative AI give it.
    assert set(told) == set(get_args(Kind)) - {"model"} | {"chat"}
    spans, _ = watched
    assert {span.name.removeprefix("sifaka.").split()[0] for span in spans} == set(told)
    calls = [span for span in spans if (span.attributes or {})["sifaka.kind"] == "model"]
    assert {(span.name, span.kind) for span in calls} == {("chat stub", SpanKind.CLIENT)}
    phases = {span.name.split()[1] for span in spans if span.name.startswith("sifaka.phase")}
    assert phases <= set(code(rows[told.index("phase")][1]))


def test_spans_have_the_attributes_that_are_told_and_no_words_of_the_text(
    watched: Watched,
) -> None:
    text = section(DOCUMENT, "Spans")
    told = {name for row in table(text[text.index("| Attribute") :]) for name in code(row[0])}
    spans, _ = watched
    found = {name for span in spans for name in span.attributes or {}}
    assert found <= told
    assert told - found == {"sifaka.cancelled", "sifaka.code"}, "a stub's error has no code of ours"
    assert not any("parcel" in span.to_json() for span in spans)


def logged(formatter: logging.Formatter) -> str:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logger = logging.Logger("sifaka.critics.execution")
    logger.addHandler(handler)
    error = ModelProviderError(
        "openai:gpt-5: no answer in time", "resume the run later", error_code="timeout"
    )
    report_failure(logger, "critic:self_refine", error, run_id="run_026e57d81d7c00b8", iteration=1)
    return stream.getvalue()


def test_a_log_line_is_as_shown() -> None:
    (shown,) = (b.content for b in blocks(DOCUMENT, "text") if b.content.startswith("WARNING"))
    assert logged(LineFormatter()) == shown


def test_every_field_of_a_record_is_told() -> None:
    told = {code(row[0])[0] for row in table(section(DOCUMENT, "Logs"))}
    besides = {"time", "level", "logger", "message"}
    assert set(json.loads(logged(JsonFormatter()))) == told | besides
    assert besides <= set(code(prose(section(DOCUMENT, "Logs"))))
