"""When a run has come to its end: rules over what is stored, so that a resume decides the same."""

from sifaka.entries import StopReason
from sifaka.models import AUTO, CALLER
from sifaka.results import majority
from sifaka.run import Run
from sifaka.selection import EDITOR
from sifaka.thought import Thought

_TURNED_DOWN_IN_A_ROW = 2
"""Versions of a model without any gain after which more of them are not expected to help."""


def nothing_left_to_do(run: Run) -> bool:
    """Whether the champion passes what is required and no critic asks for a revision."""
    champion = run.champion
    if champion is None or not champion.text.strip() or not champion.passed:
        return False
    feedback = champion.critic_feedback
    unheard = bool(feedback) and all(f.status == "abstained" for f in feedback)
    if unheard or majority(feedback) == "revise":
        return False
    # A task in words that no critic weighs is not done before the caller has written for it.
    judged = any(f.judges_task for f in feedback)
    asked = bool(run.prompt) and not judged and run.config.model in {AUTO, CALLER}
    return not asked or _attempts(run) > 0


def no_more_attempts(run: Run) -> StopReason | None:
    """Why no model or caller is to write another version, or None when one may."""
    if run.thoughts and _attempts(run) >= run.config.max_iterations:
        return "max_iterations"
    if CALLER in {thought.author for thought in run.thoughts}:
        return None  # each brief says why the version before was turned down: let them try
    recent = [t for t in run.thoughts[1:] if t.author != EDITOR][-_TURNED_DOWN_IN_A_ROW:]
    turned_down = [t for t in recent if not run.decisions[t.id].accepted]
    repeated = any(twin(run, thought.text, before=thought) for thought in recent[-1:])
    return "stalled" if repeated or len(turned_down) == _TURNED_DOWN_IN_A_ROW else None


def twin(run: Run, text: str, *, before: Thought | None = None) -> Thought | None:
    """The first version with the very same text, among those `before` a version if given."""
    for thought in run.thoughts:
        if before is not None and thought.id == before.id:
            return None
        if thought.text == text:
            return thought
    return None


def _attempts(run: Run) -> int:
    """Versions that somebody wrote on purpose: the editor's cost nothing and are not counted."""
    return sum(thought.author != EDITOR for thought in run.thoughts[1:])
