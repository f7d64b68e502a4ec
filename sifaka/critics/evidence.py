"""Facts: every claim of the text held against sources."""

from typing import Any, Literal

from pydantic import Field, field_validator

from sifaka.calls.context import current_calls
from sifaka.errors import ConfigurationError
from sifaka.record.claims import CheckOptions, ClaimChecker, ClaimReport
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.validators.claim_issues import (
    details_of,
    issues_of,
    share_not_blocking,
    suggestions_of,
    summary,
)
from sifaka.validators.spec import usable_name


class EvidenceCritic(CheckOptions):
    """Holds each claim of fact against sources and the documents of the version.

    It asks for a revision when the evidence contradicts a claim, or both supports and contradicts
    it; of a claim that nothing is known about it says so. It abstains when no claim could be
    judged. One model call for the claims and one for each document and eight claims, depth two;
    what the validator `evidence` has judged of the same text costs it nothing more.
    """

    type: Literal["evidence"] = "evidence"
    name: str = "evidence"
    checker: Any = Field(default=None, exclude=True)
    """What holds the claims against evidence; the chain gives it its own."""

    @field_validator("name")
    @classmethod
    def _usable_name(cls, name: str) -> str:
        return usable_name(name)

    @property
    def metered(self) -> bool:
        """Whether its calls are charged where they are made."""
        return True

    @property
    def calls(self) -> int:
        """Model calls that one opinion takes at least: for the claims, and for a document."""
        return 0 if getattr(self.checker, "model", None) is None else 2

    def holding(self, checker: ClaimChecker, *, search: bool = True) -> "EvidenceCritic":
        """This critic with what it asks, which may have nowhere to search."""
        if self.checker is not None:
            return self
        return self.model_copy(update={"checker": checker, "search": self.search and search})

    async def critique(self, thought: Thought) -> CriticFeedback:
        """Which claims stand; see `Critic`."""
        if self.checker is None:
            raise ConfigurationError(
                f"the critic {self.name!r} was given nothing to check claims with",
                "use it in a chain with adapters or retrievers",
            )
        documents = (*thought.pre_generation_context, *thought.post_generation_context)
        if not self.search and not any(document.text.strip() for document in documents):
            return CriticFeedback.abstain(self.name, "no_evidence: there are no documents")
        checker: ClaimChecker = self.checker
        report = await checker.check(thought.text, documents=documents, options=self.options)
        if all(verdict.verdict == "unverified" for verdict in report.verdicts):
            return self._abstention(report)
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if report.blocking else "accept",
            judges_task=False,
            scores={"evidence": round(share_not_blocking(report), 3)},
            issues=issues_of(report, thought.text),
            suggestions=suggestions_of(report),
            details=details_of(report),
            degraded=report.degraded,
            usage=report.usage,
        )

    def _abstention(self, report: ClaimReport) -> CriticFeedback:
        limit = current_calls().ledger.exhausted()
        details = {**details_of(report), **({"limit": limit} if limit else {})}
        reason = f"no_evidence: {summary(report)}"
        feedback = CriticFeedback.abstain(self.name, reason, report.usage, details)
        return feedback.model_copy(update={"degraded": report.degraded})
