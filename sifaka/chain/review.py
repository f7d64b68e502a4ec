"""What all critics together found in a text."""

from sifaka.immutable import Frozen
from sifaka.results import CriticFeedback, Issue, Usage


class Review(Frozen):
    """The critics' feedback on one text."""

    feedback: tuple[CriticFeedback, ...]
    usage: Usage

    @property
    def issues(self) -> tuple[Issue, ...]:
        """The issues of all critics that spoke; what several report of one place counts once."""
        merged: dict[tuple[object, ...], Issue] = {}
        for number, feedback in enumerate(self.feedback):
            for issue in feedback.issues if feedback.status == "ok" else ():
                place = (issue.start, issue.end, issue.category) if issue.anchored else None
                key = place or (number, issue.quote, issue.message)
                known = merged.get(key)
                merged[key] = (
                    issue
                    if known is None
                    else known.model_copy(
                        update={
                            "support": known.support + 1,
                            "severity": max(known.severity, issue.severity),
                            "fix": known.fix if known.fix is not None else issue.fix,
                        }
                    )
                )
        return tuple(merged.values())

    @property
    def degraded(self) -> tuple[str, ...]:
        """What did not work as it should have, one line each."""
        abstained = tuple(
            f"critic {f.critic} abstained: {f.reason}"
            for f in self.feedback
            if f.status == "abstained"
        )
        return abstained + tuple(note for f in self.feedback for note in f.degraded)
