"""Times, errors and charges of components, and their spans."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode, get_current_span
from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from sifaka.calls.monitoring import MOST_NAMES, Monitor, answered, asked
from sifaka.errors import ModelProviderError, StorageError
from sifaka.record.usage import Usage
from tests.stubs.clock import Clock

pytestmark = pytest.mark.anyio


@pytest.fixture
def clock() -> Clock:
    return Clock(100.0)


@pytest.fixture
def monitor(clock: Clock) -> Monitor:
    return Monitor(clock=clock)


def test_one_component_is_counted_summed_up_and_its_longest_kept(
    monitor: Monitor, clock: Clock
) -> None:
    for seconds in (1.0, 3.0, 2.0):
        with monitor.measure("critic", "style"):
            clock.now += seconds
        clock.now += 10
    summary = monitor.summary()
    assert summary["components"] == {
        "critic:style": {"count": 3, "total": 6.0, "wall": 6.0, "longest": 3.0, "errors": 0}
    }
    assert summary["critic_time"] == 6.0


async def test_time_in_parallel_is_not_added_up_as_if_it_were_serial(
    monitor: Monitor, clock: Clock
) -> None:
    def component(name: str) -> dict[str, Any]:
        return monitor.summary()["components"][name]

    leave = [anyio.Event() for _ in range(3)]

    async def call(name: str, event: anyio.Event, *, task_status: Any) -> None:
        with monitor.measure("model", name):
            task_status.started()
            await event.wait()

    async with anyio.create_task_group() as group:
        await group.start(call, "a", leave[0])  # from 0 to 4
        clock.now += 1
        await group.start(call, "a", leave[1])  # from 1 to 2
        await group.start(call, "b", leave[2])  # from 1 to 6
        clock.now += 1
        leave[1].set()
        await anyio.wait_all_tasks_blocked()
        clock.now += 2
        leave[0].set()
        await anyio.wait_all_tasks_blocked()
        clock.now += 2
        leave[2].set()
    assert (component("model:a")["total"], component("model:a")["wall"]) == (5.0, 4.0)
    assert component("model:b")["wall"] == 5.0
    assert monitor.summary()["model_time"] == 6.0


def test_the_summary_has_the_time_of_every_kind_and_is_ready_for_json(
    monitor: Monitor, clock: Clock
) -> None:
    with monitor.measure("run", "improve"):
        with monitor.measure("phase", "generate"), monitor.measure("model", "openai:m"):
            clock.now += 4
        with monitor.measure("validator", "length"):
            clock.now += 1
        with monitor.measure("retriever", "wiki"):
            clock.now += 2
        with monitor.measure("storage", "append"):
            clock.now += 0.5
        # What is under way counts as time, and not yet as a run.
        assert (monitor.summary()["total_time"], monitor.summary()["runs"]) == (7.5, 0)
    summary = monitor.summary()
    assert {key: value for key, value in summary.items() if key != "components"} == {
        "total_time": 7.5,
        "model_time": 4.0,
        "validation_time": 1.0,
        "critic_time": 0.0,
        "retrieval_time": 2.0,
        "storage_time": 0.5,
        "runs": 1,
        "errors": {},
        "models": {},
    }
    assert json.loads(json.dumps(summary)) == summary


def test_bottlenecks_are_components_the_slowest_first(monitor: Monitor, clock: Clock) -> None:
    with monitor.measure("run", "improve"), monitor.measure("phase", "critique"):
        for name, seconds in (("a", 1.0), ("b", 3.0), ("c", 2.0)):
            with monitor.measure("critic", name):
                clock.now += seconds
    assert monitor.bottlenecks() == [("critic:b", 3.0), ("critic:c", 2.0), ("critic:a", 1.0)]
    assert monitor.bottlenecks(limit=1) == [("critic:b", 3.0)]


def test_errors_are_counted_by_their_type_and_code(monitor: Monitor) -> None:
    monitor.count_error("ModelProviderError", "timeout")
    monitor.count_error("ModelProviderError", "timeout")
    monitor.count_error("CriticError")
    assert monitor.summary()["errors"] == {"ModelProviderError:timeout": 2, "CriticError": 1}


def test_however_many_names_there_are_the_memory_is_bounded(monitor: Monitor) -> None:
    for number in range(MOST_NAMES + 50):
        with monitor.measure("model", f"m{number}"):
            pass
        monitor.count_error(f"E{number}")
    summary = monitor.summary()
    assert len(summary["components"]) == len(summary["errors"]) == MOST_NAMES + 1
    assert summary["components"]["model:other"]["count"] == 50
    assert summary["errors"]["other"] == 50


def test_the_summary_is_written_to_a_file_and_nothing_else_is_left(
    monitor: Monitor, tmp_path: Path
) -> None:
    target = tmp_path / "performance.json"
    target.write_text("old", encoding="utf-8")
    with monitor.measure("run", "improve"):
        pass
    monitor.export(target)
    assert json.loads(target.read_text(encoding="utf-8")) == monitor.summary()
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("path", ["absent/performance.json", "folder"])
def test_a_file_that_cannot_be_written_is_an_error_that_says_so(
    monitor: Monitor, tmp_path: Path, path: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(StorageError, match="cannot be written"):
        monitor.export(tmp_path / path)
    assert list(tmp_path.iterdir()) == [folder]


def test_what_models_were_charged_with_is_added_up(monitor: Monitor) -> None:
    monitor.count_usage(
        "openai:m", Usage(model_calls=1, input_tokens=5, output_tokens=2, cost_usd=0.5)
    )
    monitor.count_usage(
        "openai:m", Usage(model_calls=1, input_tokens=1, output_tokens=1, cost_usd=None)
    )
    monitor.count_usage("other:m", Usage(model_calls=1, cost_usd=0.0))
    assert monitor.summary()["models"] == {
        "openai:m": {"input_tokens": 6, "output_tokens": 3, "cost_usd": 0.5, "unpriced": 1},
        "other:m": {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "unpriced": 0},
    }


class Traced:
    """A monitor and the spans it has finished."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._provider = TracerProvider()
        self._provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.monitor = Monitor(tracer=self._provider.get_tracer("tests"))

    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self._exporter.get_finished_spans()}

    def close(self) -> None:
        self._provider.shutdown()


@pytest.fixture
def traced() -> Iterator[Traced]:
    made = Traced()
    yield made
    made.close()


def test_a_span_is_named_for_its_component_and_has_the_attributes(traced: Traced) -> None:
    with traced.monitor.measure("critic", "self_refine", run_id="r1", iteration=2):
        pass
    span = traced.spans()["sifaka.critic self_refine"]
    assert dict(span.attributes or {}) == {
        "sifaka.kind": "critic",
        "sifaka.name": "self_refine",
        "sifaka.run_id": "r1",
        "sifaka.iteration": 2,
    }
    assert span.status.status_code is StatusCode.UNSET


async def test_spans_of_parallel_tasks_are_children_of_the_span_they_were_started_in(
    traced: Traced,
) -> None:
    both = anyio.Event()

    async def critic(name: str, last: bool) -> None:
        with traced.monitor.measure("critic", name):
            if last:
                both.set()
            await both.wait()
            with traced.monitor.measure("model", name):
                await asyncio.sleep(0)

    outside = get_current_span()
    with traced.monitor.measure("phase", "critique"):
        async with anyio.create_task_group() as group:
            group.start_soon(critic, "a", False)
            group.start_soon(critic, "b", True)
    assert get_current_span() is outside
    names = {span.context.span_id: name for name, span in traced.spans().items() if span.context}
    parents = {
        name: names[span.parent.span_id] if span.parent else None
        for name, span in traced.spans().items()
    }
    assert parents == {
        "sifaka.phase critique": None,
        "sifaka.critic a": "sifaka.phase critique",
        "sifaka.critic b": "sifaka.phase critique",
        "sifaka.model a": "sifaka.critic a",
        "sifaka.model b": "sifaka.critic b",
    }


def test_a_span_that_failed_tells_the_type_and_code_and_never_the_words(traced: Traced) -> None:
    error = ModelProviderError("quoting the text", error_code="timeout")
    with pytest.raises(ModelProviderError), traced.monitor.measure("model", "m"):
        raise error
    span = traced.spans()["sifaka.model m"]
    assert span.status.status_code is StatusCode.ERROR
    attributes = dict(span.attributes or {})
    assert (attributes["error.type"], attributes["sifaka.code"]) == (
        "ModelProviderError",
        "timeout",
    )
    assert "quoting" not in span.to_json()
    found = traced.monitor.summary()["components"]["model:m"]
    assert (found["count"], found["errors"]) == (1, 1)


async def test_a_cancelled_span_is_marked_and_is_no_error(traced: Traced) -> None:
    with anyio.CancelScope() as scope, traced.monitor.measure("model", "m"):
        scope.cancel()
        await anyio.sleep_forever()
    span = traced.spans()["sifaka.model m"]
    assert span.status.status_code is StatusCode.UNSET
    assert dict(span.attributes or {})["sifaka.cancelled"] is True
    found = traced.monitor.summary()["components"]["model:m"]
    assert (found["count"], found["errors"]) == (1, 0)


def python(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout


def test_whoever_does_not_use_opentelemetry_does_not_pay_for_its_import() -> None:
    code = """
import sys
from sifaka.calls.monitoring import Monitor
with Monitor().measure("run", "improve"):
    print("opentelemetry" in sys.modules)
"""
    assert python(code) == "False\n"


def test_spans_go_to_the_global_provider_as_soon_as_there_is_one() -> None:
    code = """
from opentelemetry import trace
from sifaka.calls.monitoring import Monitor
monitor = Monitor()
with monitor.measure("run", "before"):
    print(trace.get_current_span().is_recording())
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
with monitor.measure("run", "after"):
    print(trace.get_current_span().name)
"""
    assert python(code) == "False\nsifaka.run after\n"


@pytest.mark.parametrize(
    ("provider", "told"),
    [("openai-chat", "openai"), ("anthropic", "anthropic"), ("google-gla", "gcp.gemini")],
)
def test_providers_have_the_names_of_the_conventions(provider: str, told: str) -> None:
    assert asked("m", provider, None, None) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": told,
        "gen_ai.request.model": "m",
    }


def test_settings_and_the_place_of_a_call_are_told_and_nothing_else_of_them() -> None:
    told = asked(
        "m",
        "ollama",
        "https://user:secret@models.example/v1?key=secret",
        {"max_tokens": 7, "temperature": 0.5, "extra_headers": {"x": "secret"}, "top_p": None},
    )
    assert told["server.address"] == "models.example"
    assert told["server.port"] == 443
    assert (told["gen_ai.request.max_tokens"], told["gen_ai.request.temperature"]) == (7, 0.5)
    assert "secret" not in str(told)
    assert "gen_ai.request.top_p" not in told


def test_an_answer_tells_what_it_knows() -> None:
    usage = RequestUsage(input_tokens=3, output_tokens=2)
    assert answered(ModelResponse(parts=[], usage=usage)) == {
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
    }
