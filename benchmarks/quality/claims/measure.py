"""The verdicts of the checker on labelled claims, by judge."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.quality.claims.judges import Judge
from benchmarks.quality.claims.labelled import TRUE, Kind, Page
from sifaka.embeddings import Embedder
from sifaka.evidence.claims import EvidenceChecker
from sifaka.evidence.claims.meaning import FLOOR, MeaningFloor
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.claims import CheckOptions, ClaimStatus

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models.function import AgentInfo

    from sifaka.models.journaled import JournaledModel

Counts = Counter[tuple[Kind, ClaimStatus]]
"""Claims by their kind and their verdict."""
_OPTIONS = CheckOptions(search=False)


async def judged(
    pages: Sequence[Page],
    judge: Judge | None,
    *,
    embedder: Embedder | None = None,
    floor: MeaningFloor = FLOOR,
) -> Counts:
    """The verdicts on all claims of the pages; without a judge those of the rules."""
    counts: Counts = Counter()
    for number, page in enumerate(pages):
        other = pages[(number + 1) % len(pages)]
        model = None if judge is None else _model(judge, page, other)
        checker = EvidenceChecker(Adapters(embedder=embedder), model, floor=floor)
        report = await checker.check(
            claims=[each.claim for each in page.claims],
            documents=[page.as_document],
            options=_OPTIONS,
        )
        for claim, verdict in zip(page.claims, report.verdicts, strict=True):
            counts[claim.kind, verdict.verdict] += 1
    return counts


def of(
    counts: Counts,
    verdict: ClaimStatus | None = None,
    *,
    is_true: bool | None = None,
    kind: Kind | None = None,
) -> int:
    """The number of claims with this verdict, truth and kind; None is any."""
    return sum(
        count
        for (each, said), count in counts.items()
        if verdict in {None, said} and is_true in {None, each in TRUE} and kind in {None, each}
    )


def _model(judge: Judge, page: Page, other: Page) -> "JournaledModel":
    from pydantic_ai.messages import ModelResponse, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from sifaka.models.provider import provider_model

    answer = {
        "judgements": [
            {"criterion": f"claim-{number}", **judge(claim, page, other)}
            for number, claim in enumerate(page.claims, 1)
        ]
    }

    async def says(messages: "list[ModelMessage]", info: "AgentInfo") -> "ModelResponse":
        del messages, info
        return ModelResponse(parts=[ToolCallPart("answer", answer)])

    return provider_model(FunctionModel(says))
