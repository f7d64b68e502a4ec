"""The wall time of checking twenty claims against one document, and of doing it again."""

from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import anyio

from benchmarks.report import Figure, Report
from benchmarks.samples import prose
from sifaka import Chain
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.record.claims import CheckOptions
from sifaka.record.thought import Document
from sifaka.tasks.verification import check_claims

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.models.function import AgentInfo

CLAIMS = 20
ANSWER = 0.2
SAMPLES = 7
_SENTENCES = [f"The harbor tower number {n} was built in {1880 + n}." for n in range(CLAIMS)]


def measure() -> Report:
    """A text with twenty claims, checked by a model that takes its time, and checked again."""
    return anyio.run(_measure, backend_options={"use_uvloop": True})


async def _measure() -> Report:
    firsts: list[tuple[float, float]] = []
    rounds = 0
    repeats: list[tuple[float, float]] = []
    for sample in range(1 + SAMPLES):
        document = Document(
            text=f"{prose(600)} {' '.join(_SENTENCES)} {sample}", title=f"The towers {sample}"
        )
        adapters = Adapters([InProcessAdapter([document], name="towers")])
        asked: list[float] = []
        chain = Chain(judge_model=_model(asked), adapters=adapters, critics=[])
        firsts.append(await _checked(chain, asked, calls=1 + 1))
        rounds = max(rounds, _rounds(asked[1:]))
        repeats.append(await _checked(chain, asked, calls=0))
    return Report(
        title=f"evidence_claims: {CLAIMS} claims of a text against one document",
        method="`verify` of a text of twenty sentences; a document at hand that says all of "
        f"them. The model takes {ANSWER * 1000:.0f} ms: one answer for the claims, then the "
        "document is judged by all of them, which is one round. "
        f"Median of {SAMPLES} after one to warm up, each with another document; the "
        "repeat is the same check in the same process, which makes no call.",
        figures=(
            Figure(what="rounds of calls about the document", value=rounds, unit="", most=1),
            Figure(what="wall", value=median(wall for wall, _ in firsts[1:]) * 1000, unit="ms"),
            Figure(
                what="processor", value=median(work for _, work in firsts[1:]) * 1000, unit="ms"
            ),
            Figure(
                what="a repeat, wall",
                value=median(wall for wall, _ in repeats[1:]) * 1000,
                unit="ms",
                most=100,
            ),
            Figure(
                what="a repeat, processor",
                value=median(work for _, work in repeats[1:]) * 1000,
                unit="ms",
            ),
        ),
    )


async def _checked(chain: Chain, asked: list[float], *, calls: int) -> tuple[float, float]:
    """Seconds of wall and of processor time."""
    asked.clear()
    began, worked = perf_counter(), process_time()
    report = await check_claims(
        chain, " ".join(_SENTENCES), options=CheckOptions(max_claims=CLAIMS)
    )
    taken = perf_counter() - began, process_time() - worked
    assert [each.verdict for each in report.verdicts] == ["supported"] * CLAIMS, report.degraded
    assert len(asked) == calls, asked
    return taken


def _rounds(begun: list[float]) -> int:
    """The calls of which each began after the one before was answered."""
    rounds, end = 0, 0.0
    for moment in begun:
        if moment >= end:
            rounds, end = rounds + 1, moment + ANSWER
    return rounds


def _model(asked: list[float]) -> "Model":
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    async def answer(messages: "list[ModelMessage]", info: "AgentInfo") -> "ModelResponse":
        (request,) = messages
        question = "".join(str(getattr(part, "content", "")) for part in request.parts)
        asked.append(perf_counter())
        await anyio.sleep(ANSWER)
        fields = info.output_tools[0].parameters_json_schema["properties"]
        if "claims" in fields:
            claims = [{"quote": each, "claim": each} for each in _SENTENCES]
            return ModelResponse(parts=[ToolCallPart("answer", {"claims": claims})])
        criteria = question.partition("<criteria")[2].partition("</criteria")[0]
        judged = [
            {"criterion": line[2:].split(" ")[0], "judgement": "support", "quotes": [sentence]}
            for line in criteria.splitlines()
            for sentence in _SENTENCES
            if line.startswith("- ") and sentence in line
        ]
        return ModelResponse(parts=[ToolCallPart("answer", {"judgements": judged})])

    return FunctionModel(answer)
