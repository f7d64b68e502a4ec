"""Stop rules: they read the record alone, so that a resume decides the same."""

from collections.abc import Iterator
from itertools import pairwise

from sifaka.chain.version_comparison import is_measured
from sifaka.models import AUTO, CALLER
from sifaka.record.clustering import still_open
from sifaka.record.entries import StopReason
from sifaka.record.outcome import open_task, shortcoming, source_of, verdict_of
from sifaka.record.results import Issue, majority
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought


def find_stop_reason(run: Run) -> StopReason | None:
    """The reason to stop with the champion; None when a further version is worth a try.

    It passes the required validators, no critic that judges asks for a revision, and each mistake
    that is left has been put to a writer once.
    """
    champion = run.champion
    if champion is None or not champion.text.strip() or not champion.passed:
        return None
    if run.declined and run.is_declined(champion):
        return None if is_review_due(run) else "accepted"
    feedback = champion.critic_feedback
    unreviewed = all(f.status == "abstained" for f in feedback) if feedback else run.config.critics
    mistakes = champion.mistakes
    opposed = majority(feedback) == "revise" or bool(
        mistakes and any(still_open(run, champion, [mistakes]))
    )
    is_given = run.config.inquiry is None and run.thoughts[0].author == "input"
    has_task = bool(run.prompt.strip()) and run.config.model != EDITOR and is_given
    if run.config.inquiry is None and (run.config.model in {AUTO, CALLER} or run.handed_over):
        if any(thought.author == CALLER for thought in run.thoughts):
            return _find_caller_stop(run, champion, opposed=opposed)
        results = champion.validation_results.values()
        if results and (reason := shortcoming(run.original, champion)):
            return reason
        # It is briefed once for what was found, or to judge by its own rubric.
        advised = any(not result.passed for result in results)
        own = any(critic.get("type") == "prompt" for critic in run.config.critics)
        return None if has_task or opposed or advised or own else "rules_met"
    # Where the caller has written in place of a model, no critic is left that could answer.
    left_alone = run.handed_over and champion.author == CALLER
    if (unreviewed and not left_alone) or (opposed and _is_worth_a_try(run, champion)):
        return None
    if has_task and not attempts(run):
        return None
    if opposed:
        return "issues_left"
    if reason := shortcoming(run.original, champion):
        return reason
    if run.prompt and open_task(run):
        # Where a version was written and lost, another one may not.
        return "unchecked" if _is_of_writer(champion) or run.config.model == EDITOR else None
    return "passed" if run.passed else "rules_met"


def submissions(run: Run) -> tuple[Thought, ...]:
    """The versions that the caller has handed in."""
    return tuple(thought for thought in run.thoughts if thought.author == CALLER)


def is_review_due(run: Run) -> bool:
    """True when the caller is to read its version once more: the first that is taken and passes."""
    if not run.config.own_review or attempts(run) >= run.config.max_iterations:
        return False
    decisions = [(t, run.decisions.get(t.id)) for t in submissions(run)]
    taken = [t for t, decision in decisions if decision and decision.accepted and t.passed]
    return len(taken) == 1 and taken[0] == run.latest


def _find_caller_stop(run: Run, champion: Thought, *, opposed: bool) -> StopReason | None:
    """As `finished`, where the caller has handed a version in: it decides."""
    if is_review_due(run):
        return None
    if opposed and verdict_of(champion) == "revise" and _is_worth_a_try(run, champion):
        return None
    if reason := shortcoming(run.original, champion):
        return reason
    latest = submissions(run)[-1]
    if latest.id != champion.id and (latest.findings.open or not latest.passed):
        return None  # it is to answer what is open, to mend it, or to accept the champion
    return "passed" if source_of(run, champion).author == CALLER else None


def _is_worth_a_try(run: Run, champion: Thought) -> bool:
    """True when a critic that judges has objected, or no writer knows of the mistakes yet."""
    if majority(champion.critic_feedback) == "revise" and any(
        f.verdict == "revise" and (f.judges_task or not f.issues) for f in champion.critic_feedback
    ):
        return True
    open_ = {_key(issue) for issue in _list_requests(champion)}
    revised = (t.parent_id for t in run.thoughts if t.parent_id and _is_of_writer(t))
    known = {_key(issue) for each in set(revised) for issue in _list_requests(run.thought(each))}
    return bool(open_ - known)


def _list_requests(thought: Thought) -> Iterator[Issue]:
    """The mistakes, and all that a critic of mechanics reports when it asks for a revision."""
    for feedback in thought.critic_feedback:
        asks = feedback.verdict == "revise" and not feedback.judges_task
        yield from feedback.issues if asks else feedback.mistakes


def _key(issue: Issue) -> tuple[str | None, str]:
    """The identity of an issue from version to version, where its place is another."""
    return issue.rule, issue.quote


def _is_of_writer(thought: Thought) -> bool:
    return thought.author not in {EDITOR, "input"}


def no_more_attempts(run: Run) -> StopReason | None:
    """The reason that no further version is to be written; None when one may be."""
    if run.thoughts and attempts(run) >= run.config.max_iterations:
        return "max_iterations"
    if handed_in := submissions(run):
        # Each answer says why the version was not taken: let them try, within bounds.
        return "stalled" if len(handed_in) >= 3 * run.config.max_iterations + 3 else None
    patience = run.config.patience
    if patience is None:
        return None
    recent = _group_rounds(run)[-patience:]
    lost = [all(_is_lost_by_opinion(run, thought) for thought in part) for part in recent]
    repeated = recent and all(twin(run, t.text, before=t) is not None for t in recent[-1])
    return "stalled" if repeated or lost == [True] * patience else None


def _is_lost_by_opinion(run: Run, thought: Thought) -> bool:
    """True when the version lost by opinion; what is measured is reported to its writer."""
    decision = run.decisions[thought.id]
    return thought.passed and not decision.accepted and not is_measured(decision)


def twin(run: Run, text: str, *, before: Thought | None = None) -> Thought | None:
    """The first version with the very same text, among those `before` a version if given."""
    for thought in run.thoughts:
        if before is not None and thought.id == before.id:
            return None
        if thought.text == text:
            return thought
    return None


def attempts(run: Run) -> int:
    """Rounds of a model, and versions of the caller that were taken.

    The editor's cost nothing and are not counted, nor are questions to the caller.
    """
    return sum(
        run.decisions[t.id].accepted if t.author == CALLER and t.id in run.decisions else True
        for t in run.thoughts[1:]
        if t.candidate == 0 and t.author != EDITOR
    )


def _group_rounds(run: Run) -> list[list[Thought]]:
    """The versions of each round written on purpose; several first versions are no round."""
    written = [thought for thought in run.thoughts[1:] if thought.author != EDITOR]
    starts = [at for at, thought in enumerate(written) if thought.candidate == 0]
    return [written[start:end] for start, end in pairwise((*starts, len(written)))]
