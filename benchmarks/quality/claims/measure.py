"""The verdicts of the checker on labelled claims, by judge."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.quality.claims.judges import Judge
from benchmarks.quality.claims.labelled import Page
from sifaka.evidence.claims import EvidenceChecker
from sifaka.evidence.sources.collection import NONE
from sifaka.record.claims import CheckOptions, ClaimStatus

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models.function import AgentInfo

    from sifaka.models.journaled import JournaledModel

Counts = Counter[tuple[bool, ClaimStatus]]
"""Claims by their truth and their verdict."""
_OPTIONS = CheckOptions(search=False)


async def judged(pages: Sequence[Page], judge: Judge | None) -> Counts:
    """The verdicts on all claims of the pages; without a judge those of the rules."""
    counts: Counts = Counter()
    for number, page in enumerate(pages):
        other = pages[(number + 1) % len(pages)]
        model = None if judge is None else _model(judge, page, other)
        report = await EvidenceChecker(NONE, model).check(
            claims=[each.claim for each in page.claims],
            documents=[page.as_document],
            options=_OPTIONS,
        )
        for claim, verdict in zip(page.claims, report.verdicts, strict=True):
            counts[claim.is_true, verdict.verdict] += 1
    return counts


def of(counts: Counts, *, is_true: bool) -> int:
    """The number of claims that are true, or false."""
    return sum(count for (true, _), count in counts.items() if true == is_true)


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
