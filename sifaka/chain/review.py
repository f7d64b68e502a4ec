"""What was checked in a text, and what critics say of one that is no version of a run."""

from collections.abc import Iterator

from sifaka._internal.immutable import Frozen
from sifaka.record.clustering import cluster
from sifaka.record.outcome import verdicts
from sifaka.record.results import CriticFeedback, Issue, Verdict, majority
from sifaka.record.thought import EDITOR, Thought
from sifaka.record.usage import Usage
from sifaka.text.differences import Difference


class Check(Frozen):
    """One thing that a text may be checked for."""

    what: str
    """A validator or critic by name, or `task`, `meaning`."""
    done: bool
    reason: str | None = None
    """The reason that it was not checked, or that a part of the text was not."""


def checks_of(thought: Thought, *, has_task: bool, judged: bool) -> Iterator[Check]:
    """The checks of a text by its validators and critics.

    Form is not meaning: without a critic that judges, the meaning of the text is listed as not
    checked, and so is its task.

    Args:
        thought: The text with the results on it.
        has_task: True when the text was written for a task in words.
        judged: True when the caller or a person has judged it.
    """
    for name, result in thought.validation_results.items():
        claims = verdicts(result)
        done, reason = result.unchecked is None, result.unchecked
        if open_ := claims.count("unverified"):
            done = open_ < len(claims)
            reason = f"{open_} of {len(claims)} claims could not be verified"
        yield Check(what=name, done=done, reason=reason)
    for opinion in thought.critic_feedback:
        silent = opinion.status == "abstained" or (opinion.verdict is None and not opinion.issues)
        reason = "; ".join(filter(None, (opinion.reason, *opinion.degraded))) or None
        yield Check(what=opinion.critic, done=not silent, reason=reason)
    if not (judged or any(f.judges_task and f.status == "ok" for f in thought.critic_feedback)):
        reason = "no model judged it"
        if has_task:
            ignored = thought.author in {EDITOR, "input"}
            unwritten = f"{reason}, and none wrote for it"
            yield Check(what="task", done=False, reason=unwritten if ignored else reason)
        yield Check(what="meaning", done=False, reason=reason)


class Review(Frozen):
    """The critics' feedback on one text."""

    feedback: tuple[CriticFeedback, ...]
    usage: Usage
    rubric: tuple[str, ...] | None = None
    """The questions by which the caller judges the text; None when a model has judged it."""
    differences: tuple[Difference, ...] = ()
    """What was measured of it against its original and the limits of its task."""

    @property
    def verdict(self) -> Verdict | None:
        """The decision of the critics together; None when none of them voted.

        Rules of mechanics can ask for a revision; that they found nothing accepts no meaning.
        """
        verdict = majority(self.feedback)
        return verdict if verdict == "revise" or self.is_judged else None

    @property
    def is_judged(self) -> bool:
        """True when a critic has judged the meaning of the text."""
        return any(f.judges_task and f.status == "ok" for f in self.feedback)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """The issues of all critics that spoke; what several report counts once, with support."""
        return cluster([f.issues for f in self.feedback if f.status == "ok"])

    @property
    def degraded(self) -> tuple[str, ...]:
        """The steps that failed or fell back, one line each."""
        silent = (f for f in self.feedback if f.status == "abstained")
        return (
            *(f"critic {f.critic} abstained: {f.reason}" for f in silent),
            *(note for f in self.feedback for note in f.degraded),
            *self.usage.notes,
        )
