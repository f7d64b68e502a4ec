"""What became of a version that the caller submitted."""

from sifaka.chain.result import RunResult
from sifaka.models import CALLER
from sifaka.run import Run
from sifaka.thought import Thought


class Submission(RunResult):
    """A run after a submission, and the decision on the version that was submitted."""

    accepted: bool
    reason: str

    @classmethod
    def of(cls, run: Run, thought_id: str) -> "Submission":
        """The outcome of one submitted version of a run."""
        decision = run.decisions.get(thought_id)
        if decision is None:
            return cls(run=run, accepted=False, reason=run.error or "it was not compared yet")
        return cls(run=run, accepted=decision.accepted, reason=decision.reason)


def earlier_submission(run: Run, parent_id: str, text: str) -> Thought | None:
    """The version of this text that the caller submitted against this parent before, if any."""
    for thought in run.thoughts:
        if (thought.author, thought.parent_id, thought.text) == (CALLER, parent_id, text):
            return thought
    return None
