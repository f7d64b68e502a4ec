"""What critics say of a text that is no version of a run."""

from sifaka._internal.immutable import Frozen
from sifaka.record.clustering import cluster
from sifaka.record.results import CriticFeedback, Issue, Verdict, majority
from sifaka.record.usage import Usage
from sifaka.text.differences import Difference


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
        abstained = tuple(
            f"critic {f.critic} abstained: {f.reason}"
            for f in self.feedback
            if f.status == "abstained"
        )
        told = (note for f in self.feedback for note in f.degraded)
        return (*abstained, *told, *self.usage.notes)
