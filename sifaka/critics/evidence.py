"""Facts: every claim of the text checked against sources."""

from typing import Literal

from sifaka.calls.component import models_of
from sifaka.calls.context import current_calls
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.validators.evidence import ClaimComponent, result_of


class EvidenceCritic(ClaimComponent):
    """Checks each claim of fact against sources and the documents of the version.

    It asks for a revision when the evidence contradicts a claim, or both supports and contradicts
    it; of a claim that nothing is known about it says so. It abstains when no claim could be
    judged. One model call for the claims and one for 8,000 characters of documents, depth two; what
    the validator `evidence` has judged of the same text costs it nothing more.
    """

    type: Literal["evidence"] = "evidence"

    def calls(self, text: str = "") -> int:
        """One for the claims and one for a document, where there is a model to ask."""
        return 2 if models_of(self.checker) else 0

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The verdicts on the claims; see `Critic`."""
        report = await self._check_claims(thought)
        if report is None:
            return CriticFeedback.abstain(self.name, "no_evidence: there are no documents")
        result = result_of(report)
        if all(verdict.verdict == "unverified" for verdict in report.verdicts):
            limit = current_calls().ledger.exhausted()
            details = {**result.details, **({"limit": limit} if limit else {})}
            reason = f"no_evidence: {result.message}"
            feedback = CriticFeedback.abstain(self.name, reason, report.usage, details)
            return feedback.model_copy(update={"degraded": report.degraded})
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if report.blocking else "accept",
            judges_task=False,
            scores={"evidence": round(result.score, 3)},
            issues=result.issues,
            suggestions=result.suggestions,
            details=result.details,
            degraded=report.degraded,
            usage=report.usage,
        )
