"""Stop rules: they read the record alone, so that a resume decides the same."""

from sifaka.models import AUTO, CALLER, HOST
from sifaka.record.entries import StopReason
from sifaka.record.results import majority
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought


def nothing_left_to_do(run: Run) -> bool:
    """True when the champion passes the required validators and no critic asks for a revision."""
    champion = run.champion
    if champion is None or not champion.text.strip() or not champion.passed:
        return False
    feedback = champion.critic_feedback
    unheard = all(f.status == "abstained" for f in feedback) if feedback else run.config.critics
    if unheard and run.handed_over and champion.author == CALLER:
        return True  # no critic is left that could be heard
    if unheard or majority(feedback) == "revise":
        return False
    # A task in words that no critic weighs is not done before the caller has written for it.
    judged = any(f.judges_task for f in feedback if f.status == "ok")
    asked = bool(run.prompt) and not judged and run.config.model in {AUTO, CALLER, HOST}
    return not asked or attempts(run) > 0


def no_more_attempts(run: Run) -> StopReason | None:
    """The reason that no further version is to be written; None when one may be."""
    if run.thoughts and attempts(run) >= run.config.max_iterations:
        return "max_iterations"
    if CALLER in {thought.author for thought in run.thoughts}:
        return None  # each brief says why the version before was turned down: let them try
    patience = run.config.patience
    if patience is None:
        return None
    recent = _last_rounds(run, patience)
    gained = any(run.decisions[thought.id].accepted for part in recent for thought in part)
    repeated = recent and all(twin(run, t.text, before=t) is not None for t in recent[0])
    return "stalled" if repeated or (len(recent) == patience and not gained) else None


def twin(run: Run, text: str, *, before: Thought | None = None) -> Thought | None:
    """The first version with the very same text, among those `before` a version if given."""
    for thought in run.thoughts:
        if before is not None and thought.id == before.id:
            return None
        if thought.text == text:
            return thought
    return None


def attempts(run: Run) -> int:
    """Rounds of a model or the caller: the editor's cost nothing and are not counted."""
    return sum(t.candidate == 0 and t.author != EDITOR for t in run.thoughts[1:])


def _last_rounds(run: Run, most: int) -> list[list[Thought]]:
    """The versions of the last rounds written on purpose, the latest round first."""
    rounds: list[list[Thought]] = []
    together: list[Thought] = []
    for thought in reversed(run.thoughts[1:]):
        if thought.author == EDITOR:
            continue
        together.append(thought)
        if thought.candidate == 0:  # several first versions, without one here, are no round
            rounds.append(together)
            together = []
        if len(rounds) == most:
            break
    return rounds
