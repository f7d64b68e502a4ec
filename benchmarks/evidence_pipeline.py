"""The cost of evidence besides the model, and its wall time next to that of the calls."""

from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import anyio

from benchmarks.report import Figure, Report
from benchmarks.samples import percentile, prose
from sifaka.calls.context import Calls, Journal, scope
from sifaka.calls.ledger import Ledger
from sifaka.evidence.documents import SearchFilters, SourceDocument
from sifaka.evidence.pipeline import EvidencePipeline
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.verify import PARALLEL
from sifaka.record.entries import Called
from sifaka.record.usage import Budget, Usage
from sifaka.storage.protocol import Health

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models.function import AgentInfo

    from sifaka.models.journaled import JournaledModel

DOCUMENTS = 10
CRITERIA = 4
ANSWER = 0.1
SAMPLES = 15
LONG = 40
"""Documents of the run in which they take their turns."""
MANY, SLOWER = 100, 0.2
"""Documents of a long search, and the seconds of its model."""
QUESTION = "When was the harbor tower built, and how high is it?"
_QUOTE = "The harbor tower was built in 1990"


def measure() -> Report:
    """Runs of the pipeline over documents at hand, in the surroundings of a run."""
    return anyio.run(_measure, backend_options={"use_uvloop": True})


async def _measure() -> Report:
    pipelines = {
        (seconds, count): EvidencePipeline(Adapters([_AtOnce(count)]), _model(seconds))
        for seconds, count in (
            (0.0, DOCUMENTS),
            (ANSWER, DOCUMENTS),
            (ANSWER, LONG),
            (SLOWER, MANY),
        )
    }
    walls: dict[tuple[float, int], list[float]] = {key: [] for key in pipelines}
    for _ in range(1 + SAMPLES):
        for (seconds, count), pipeline in pipelines.items():
            walls[seconds, count].append(await _wall(pipeline, count))
    overhead = [wall * 1000 for wall in walls[0.0, DOCUMENTS][1:]]
    return Report(
        title=f"evidence_pipeline: a question with {DOCUMENTS} documents and {CRITERIA} criteria",
        method="Plan, search, verification and classes in the surroundings of a run, its journal "
        "in memory; two queries to a source that answers at once with documents of 6 KB, a quote "
        f"looked up for each criterion. Median of {SAMPLES} runs after one to warm up, in turn. "
        "With a model that answers at once the wall is all overhead. With one that takes "
        f"{ANSWER * 1000:.0f} ms (of {MANY} documents {SLOWER * 1000:.0f} ms), and {PARALLEL} "
        "calls at the same time, the ideal is one answer "
        "for the plan and one for "
        f"each {PARALLEL} documents.",
        figures=(
            Figure(what="overhead, model of no latency, p50", value=median(overhead), unit="ms"),
            Figure(what="overhead, p95", value=percentile(overhead, 95), unit="ms"),
            Figure(
                what="overhead for a document and a criterion",
                value=median(overhead) / DOCUMENTS / CRITERIA,
                unit="ms",
            ),
            *_against_ideal(walls[ANSWER, DOCUMENTS][1:], DOCUMENTS),
            *_against_ideal(walls[ANSWER, LONG][1:], LONG),
            *_against_ideal(walls[SLOWER, MANY][1:], MANY, SLOWER),
        ),
    )


def _against_ideal(
    walls: Sequence[float], count: int, seconds: float = ANSWER
) -> tuple[Figure, Figure]:
    ideal = seconds * (1 + -(-count // PARALLEL))
    return (
        Figure(what=f"wall, {count} documents", value=median(walls) * 1000, unit="ms"),
        Figure(
            what=f"wall, {count} documents / ideal",
            value=median(walls) / ideal,
            unit="x",
            most=1.15,
        ),
    )


async def _wall(pipeline: EvidencePipeline, count: int) -> float:
    """Seconds of one question."""
    kept: list[Called] = []

    async def append(call: Called) -> None:
        kept.append(call)

    calls = Calls(ledger=Ledger(Budget(), Usage()), journal=Journal((), append))
    with calls.active(), scope("evidence"):
        started = perf_counter()
        result = await pipeline.run(QUESTION, max_results=count)
        taken = perf_counter() - started
    assert [each.classification for each in result.evidence] == ["perfect"] * count, result.degraded
    assert len(kept) == 1 + 2 + count, "the plan, two queries, and each document"
    return taken


class _AtOnce:
    """A source that finds the same documents for every query, without looking."""

    name = "source"
    place = "in the process"

    def __init__(self, count: int) -> None:
        text = prose(1_000)
        self._documents = tuple(
            SourceDocument(
                text=f"{text} {_QUOTE}. {number}",
                title=f"The harbor, volume {number}",
                url=f"https://example.org/{number}",
            )
            for number in range(count)
        )

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters
    ) -> Sequence[SourceDocument]:
        del query, filters
        return self._documents[:limit]

    async def health(self) -> Health:
        return Health(part=self.place, works=True, found="documents")

    async def aclose(self) -> None:
        return


def _model(seconds: float) -> "JournaledModel":
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.usage import RequestUsage

    from sifaka.models.provider import provider_model

    names = [f"c{number}" for number in range(CRITERIA)]
    plan = {
        "queries": ["harbor tower", "harbor built 1990"],
        "criteria": [
            {"id": name, "description": "When it was built.", "weight": 1} for name in names
        ],
    }
    judgements = {
        "judgements": [
            {"criterion": name, "judgement": "support", "quotes": [_QUOTE]} for name in names
        ]
    }

    async def answer(messages: "list[ModelMessage]", info: "AgentInfo") -> "ModelResponse":
        del messages
        await anyio.sleep(seconds)
        fields = info.output_tools[0].parameters_json_schema["properties"]
        return ModelResponse(
            parts=[ToolCallPart("answer", plan if "queries" in fields else judgements)],
            # As a provider tells it; without any, the stand-in counts the words of each question.
            usage=RequestUsage(input_tokens=2_000, output_tokens=100),
        )

    return provider_model(FunctionModel(answer))
