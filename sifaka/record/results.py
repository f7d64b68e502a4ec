"""Results of validators and critics."""

from collections.abc import Iterable, Mapping, Set
from typing import Any, Literal, cast

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenJson, FrozenMap
from sifaka.record.usage import Usage
from sifaka.text.differences import Difference
from sifaka.text.limits import Asked

Verdict = Literal["accept", "revise"]
QUOTE_LIMIT = 200


class Issue(Frozen):
    """One thing that is wrong with one place of a text."""

    message: str
    quote: str = ""
    """The words the issue is about, exactly as they are in the text; of a span longer than
    `QUOTE_LIMIT` characters only the beginning."""
    start: int | None = None
    """Offset of the quote's first character (Unicode code points); None when it was not found."""
    end: int | None = None
    """Offset after the quote's last character."""
    category: str = "general"
    severity: int = Field(default=3, ge=1, le=5)
    """1 is a matter of taste, 5 makes the text unusable."""
    fix: str | None = None
    """The replacement for the span; the empty string deletes it."""
    safe: bool = False
    """True when the fix is certain enough to be applied without a judgement."""
    rule: str | None = None
    """The rule, pattern or principle that fired."""
    support: int = 1
    """The number of opinions that reported it; a critic that asks several times has several."""

    @classmethod
    def at(cls, text: str, start: int, end: int, message: str, **fields: Any) -> "Issue":
        """The issue about `text[start:end]`, quote and span filled in."""
        quote = text[start : min(end, start + QUOTE_LIMIT)]
        return cls(message=message, quote=quote, start=start, end=end, **fields)

    @classmethod
    def about(cls, text: str, span: tuple[int, int] | None, message: str, **fields: Any) -> "Issue":
        """The issue about a span of a text, or about no place of it."""
        return (
            cls(message=message, **fields)
            if span is None
            else cls.at(text, *span, message, **fields)
        )

    @property
    def anchored(self) -> bool:
        """True when the issue points at a place of the text."""
        return self.start is not None


MATTERS_OF_STYLE = frozenset({"wordiness", "style"})
"""Categories of issues about which writers may differ."""


class ValidationResult(Frozen):
    """The result of one validator."""

    passed: bool
    message: str = ""
    validator: str = ""
    required: bool = True
    """True when the run is not done before this passes; otherwise the result is advice."""
    score: float = Field(default=-1.0, ge=-1.0, le=1.0)
    """Distance to passing, 0 to 1; 1 when passed. Left out, it follows `passed`."""
    issues: tuple[Issue, ...] = ()
    suggestions: tuple[str, ...] = ()
    details: FrozenJson = Field(default_factory=dict[str, object])
    """More of the validator's record, such as the evidence for each claim."""
    unchecked: str | None = None
    """The reason that the text was not checked; that it passes then says nothing."""

    @classmethod
    def not_checked(cls, reason: str) -> "ValidationResult":
        """The result of a validator that cannot judge the text, which stops no run."""
        return cls(passed=True, message=f"not checked: {reason}", unchecked=reason)

    def model_post_init(self, context: object, /) -> None:
        """Fill the score in from the verdict when none was given."""
        if self.score < 0:
            object.__setattr__(self, "score", 1.0 if self.passed else 0.0)


FACTS = frozenset({"number", "date", "money", "url", "code", "quote", "name"})
"""The kinds of differences that no version may lose where facts are required."""


def opened_if_lost(difference: Difference, kinds: Set[str]) -> Difference:
    """The difference, which is open where something of these kinds is lost."""
    is_lost = difference.status == "noted" and difference.kind in kinds and not difference.after
    return difference.model_copy(update={"status": "open"}) if is_lost else difference


class Findings(Frozen):
    """What was measured of a version beside its rules: for whoever judges it, who answers it."""

    differences: tuple[Difference, ...] = ()
    """Those from the original, each with its answer; `noted` ones are listed and ask nothing."""
    asked: tuple[Asked, ...] = ()
    """The limits in the words of the task."""
    kept: int = 0
    """The figures, dates, names, links and the like of the original that were found again."""
    total: int = 0
    """How many it has."""
    allowed: FrozenJson | None = None
    """What a model said the task asks for; in records of an older form alone."""

    @property
    def open(self) -> tuple[Difference, ...]:
        """The differences that nobody has answered; they keep the version from being taken."""
        return tuple(each for each in self.differences if each.status == "open")

    def covered(self, quotes: Mapping[str, str], by: str) -> "Findings":
        """The findings after a review that quotes, by difference, what asks for it."""
        return self.model_copy(
            update={
                "differences": tuple(
                    each.model_copy(update={"status": "covered", "by": by, "reason": quote})
                    if each.status == "open" and (quote := quotes.get(each.id))
                    else each
                    for each in self.differences
                )
            }
        )

    def with_losses_open(self) -> "Findings":
        """The findings where nobody can say what was lost on purpose."""
        return self.model_copy(
            update={"differences": tuple(opened_if_lost(d, FACTS) for d in self.differences)}
        )

    @property
    def accepted(self) -> tuple[Difference, ...]:
        """The differences that the caller or a person has accepted."""
        return tuple(each for each in self.differences if each.status == "accepted")


Preferred = Literal["text", "original", "neither"]
PREFERRED = "preferred"
"""The key in a feedback's details of the better one of a text and its original, if a critic asked
for it with its opinion."""
COVERED = "covered"
"""That of the words of the task or a document, by the difference that they ask for, which a critic
has quoted and which were found there."""


class CriticFeedback(Frozen):
    """The opinion of one critic, or the reason why it abstained."""

    critic: str = ""
    status: Literal["ok", "abstained"] = "ok"
    reason: str | None = None
    """Why it abstained, or read nothing: one line that never reaches the writer."""
    verdict: Verdict | None = None
    judges_task: bool = True
    """True when the text was compared with its task; a critic of mechanics alone does not do so."""
    scores: FrozenMap[float] = Field(default_factory=dict[str, float])
    """Score by aspect, 0 to 1."""
    issues: tuple[Issue, ...] = ()
    suggestions: tuple[str, ...] = ()
    confidence: float | None = Field(default=None, ge=0, le=1)
    reflection: str | None = None
    """A lesson for the next attempt; kept apart from the feedback on this text."""
    details: FrozenJson = Field(default_factory=dict[str, object])
    """More of the technique's record: agreement, rankings, the principles that fired."""
    degraded: tuple[str, ...] = ()
    """The parts of the text that it could not examine, one line each."""
    usage: Usage = Field(default_factory=Usage)
    """Usage of the opinion; its seconds are the time from the question to the answer."""

    @property
    def mistakes(self) -> tuple[Issue, ...]:
        """The mistakes of form among its issues, where it reads by rules and not by judgement."""
        if self.judges_task or self.status == "abstained":
            return ()
        return tuple(
            issue
            for issue in self.issues
            if issue.severity > 1 and issue.category not in MATTERS_OF_STYLE
        )

    @classmethod
    def abstain(
        cls,
        critic: str,
        reason: str,
        usage: Usage | None = None,
        details: Mapping[str, object] | None = None,
    ) -> "CriticFeedback":
        """The feedback of a critic that failed: no vote, no issues, and why."""
        return cls(
            critic=critic,
            status="abstained",
            reason=reason,
            usage=usage or Usage(),
            details=details or {},
        )


def majority(feedback: tuple[CriticFeedback, ...]) -> Verdict | None:
    """The verdict of the critics together.

    Returns:
        `revise` when a strict majority of those that voted asks for it, `accept` when critics voted
        and no such majority exists, None when no critic voted.
    """
    votes = [f.verdict for f in feedback if f.status == "ok" and f.verdict is not None]
    if not votes:
        return None
    return "revise" if votes.count("revise") * 2 > len(votes) else "accept"


def covered_in(feedback: Iterable[CriticFeedback]) -> dict[str, str]:
    """The words that reviews have quoted for open differences, by difference.

    What a critic of others means by the same key is left out.
    """
    answers = (each.details.get(COVERED) for each in feedback)
    quotes = [cast("Mapping[str, object]", each) for each in answers if isinstance(each, Mapping)]
    return {id_: quote for each in quotes for id_, quote in each.items() if isinstance(quote, str)}
