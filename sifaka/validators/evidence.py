"""Checks of claims, as the validator and the critic share them: options, issues, suggestions."""

from collections import Counter
from typing import Any, Literal, Self

from pydantic import Field

from sifaka.calls.component import Binding, ClaimCheck, DataComponent
from sifaka.errors import ConfigurationError
from sifaka.record.claims import (
    CheckOptions,
    ClaimChecker,
    ClaimEvidence,
    ClaimReport,
    ClaimStatus,
    ClaimVerdict,
)
from sifaka.record.results import QUOTE_LIMIT, Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.spec import Name, OptionalSpec


class ClaimComponent(CheckOptions, DataComponent):
    """A component that checks each claim of fact against sources and the version's documents."""

    name: Name = "evidence"
    checker: Any = Field(default=None, exclude=True)
    """A `ClaimChecker`; the chain gives it its own."""

    @property
    def claim_checks(self) -> tuple[ClaimCheck, ...]:
        """This one."""
        return (ClaimCheck(self.name, self.options),)

    def bind(self, binding: Binding) -> Self:
        """The component with the chain's checker, unless it has its own."""
        if self.checker is not None or binding.checker is None:
            return self
        search = self.search and binding.search
        return self.model_copy(update={"checker": binding.checker, "search": search})

    async def _check_claims(self, thought: Thought) -> ClaimReport | None:
        """The verdicts on the claims of a text; None where there is nothing to check them by.

        Raises:
            ConfigurationError: It was given no checker.
            StorageError: An answer could not be put on record.
        """
        if self.checker is None:
            raise ConfigurationError(
                f"{self.name!r} was given nothing to check claims with",
                "use it in a chain with adapters or retrievers, or call verify_evidence",
            )
        checker: ClaimChecker = self.checker
        documents = (*thought.pre_generation_context, *thought.post_generation_context)
        if not self.search and not any(document.text.strip() for document in documents):
            return None
        return await checker.check(thought.text, documents=documents, options=self.options)


SEVERITY: dict[ClaimStatus, int] = {
    "contradicted": 5,
    "mixed": 4,
    "in_doubt": 3,
    "not_enough_info": 2,
    "unverified": 1,
}
"""The severity of the issue of a claim, by its verdict; `supported` makes none."""
_CLAIM, _QUOTE, _TITLE, _URL = 200, 300, 80, 200
"""Characters of what a message quotes."""
MOST_ISSUES = 100


def _summary(report: ClaimReport) -> str:
    """The number of claims with each verdict, in one line."""
    counted = Counter(verdict.verdict for verdict in report.verdicts)
    if not counted:
        return "no claims to check"
    many = "1 claim" if len(report.verdicts) == 1 else f"{len(report.verdicts)} claims"
    counts = ", ".join(
        f"{counted[s]} {s.replace('_', ' ').replace('info', 'information')}"
        for s in ("supported", *SEVERITY)
        if counted[s]
    )
    reasons = (f" ({v.reason})" for v in report.verdicts if v.verdict == "unverified" and v.reason)
    return f"{many}: {counts}{next(reasons, '')}"


def _suggestions(report: ClaimReport) -> tuple[str, ...]:
    """The suggestion for claims without evidence, in one line."""
    open_ = [v for v in report.verdicts if v.verdict in {"not_enough_info", "unverified"}]
    if not open_:
        return ()
    many = "1 claim has" if len(open_) == 1 else f"{len(open_)} claims have"
    return (f"{many} no evidence: give a source for each, or word it as uncertain",)


def result_of(report: ClaimReport) -> ValidationResult:
    """The verdicts on the claims of a text as the result of a validator.

    Its score is the share of the claims that may stay as they are. Its details are read by
    `sifaka.record.claims.verdicts_in`.
    """
    count = len(report.verdicts)
    issues = [_issue(each) for each in report.verdicts if each.verdict in SEVERITY]
    return ValidationResult(
        passed=not report.blocking,
        message=_summary(report),
        score=1.0 if not count else (count - len(report.blocking)) / count,
        issues=tuple(sorted(issues, key=lambda issue: -issue.severity)[:MOST_ISSUES]),
        suggestions=_suggestions(report),
        details={
            "claims": [verdict.model_dump(mode="json") for verdict in report.verdicts],
            "degraded": list(report.degraded),
            "usage": report.usage.model_dump(mode="json"),
        },
    )


def _issue(verdict: ClaimVerdict) -> Issue:
    claim = verdict.claim
    return Issue(
        message=_message(verdict),
        quote=claim.quote[:QUOTE_LIMIT],
        start=claim.start,
        end=claim.end,
        category="evidence",
        severity=SEVERITY[verdict.verdict],
        rule=verdict.verdict,
    )


def _message(verdict: ClaimVerdict) -> str:
    claim = verdict.claim.text[:_CLAIM]
    quotes = {
        stance: [_quote(each) for each in verdict.evidence if each.stance == stance]
        for stance in ("supports", "contradicts", "in_doubt")
    }
    match verdict.verdict:
        case "contradicted":
            return f"contradicted: {claim} Correct it: {'; '.join(quotes['contradicts'][:2])}"
        case "mixed":
            quoted = "; ".join((*quotes["supports"][:1], *quotes["contradicts"][:1]))
            return f"sources disagree: {claim} Say so, or leave it out: {quoted}"
        case "in_doubt":
            return (
                f"in doubt ({verdict.reason}): {claim} Say what the source says, or leave it out: "
                f"{''.join(quotes['in_doubt'][:1])}"
            )
        case "not_enough_info":
            return f"not supported ({verdict.reason}): {claim} Give a source, or hedge it"
        case _:
            return f"not checked ({verdict.reason}): {claim} Give a source, or hedge it"


def _quote(evidence: ClaimEvidence) -> str:
    """The words, with title, address and day of their source as far as they are known."""
    name = evidence.title or evidence.document_id or evidence.adapter or "a document"
    where = [evidence.url[:_URL]] if evidence.url else []
    if evidence.published is not None:
        where.append(evidence.published.date().isoformat())
    elif evidence.retrieved_at is not None:
        where.append(f"retrieved {evidence.retrieved_at.date().isoformat()}")
    source = f" ({', '.join(where)})" if where else ""
    return f"{name[:_TITLE]!r}{source} says {evidence.quote[:_QUOTE]!r}"


class EvidenceValidator(OptionalSpec, ClaimComponent):
    """Checks each claim of fact against sources and the documents of the version.

    A claim that the evidence contradicts, or both supports and contradicts, fails the text. One
    that nothing is known about does not: it asks for a citation or a hedge. The verdicts, with
    their quotes and sources, are in the result's `details`.
    """

    type: Literal["evidence"] = "evidence"
    name: Name = "evidence"

    async def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # a dead v1 method
        self, thought: Thought
    ) -> ValidationResult:
        """Check the claims of `thought.text`; see `Validator`.

        Only what is contradicted, or both supported and contradicted, fails. The score is the share
        of claims that may stay. What could not be judged passes, and says why.

        Raises:
            ConfigurationError: It was given nothing to check claims with.
            StorageError: An answer could not be put on record.
        """
        report = await self._check_claims(thought)
        if report is None:
            return ValidationResult(passed=True, message="no claim was checked: no documents")
        return result_of(report)
