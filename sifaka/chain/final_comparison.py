"""The look back: the best version against the input, once more, at the end of a run.

Each step of a long way may be a small loss that critics or a judge took for a gain; the comparison
of the two ends sees the sum. Where a review has compared them already, with the input first, only
the other order is asked, and only where its answer can change what stands. The input means the
editor's version of it where there is one: its edits are certain one by one.
"""

from collections.abc import Mapping

from sifaka.calls.journal import scope
from sifaka.chain.acceptance import counted
from sifaka.chain.checks import Check
from sifaka.chain.pairwise_judge import Judge, Preference, as_reading, compare_in_both_orders
from sifaka.chain.recovery import place
from sifaka.chain.stop_rules import attempts
from sifaka.chain.version_comparison import RULES, first_difference
from sifaka.models import CALLER
from sifaka.record.entries import Anchored, Decision, RunStatus, StopReason
from sifaka.record.results import PREFERRED
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought

_WHAT = "no worse than the input"
_ANSWERS: Mapping[str, Preference] = {"original": "first", "text": "second", "neither": "neither"}


def needs_look_back(run: Run) -> bool:
    """True when a version that only opinions may have preferred stands in place of the input.

    The caller's own version is not looked back from: the caller has judged it. Nor is one that a
    review prefers and that stands in doubt: no answer could change that.
    """
    champion, base = run.champion, _base(run)
    if not run.config.look_back or champion is None or base is None or champion.id == base.id:
        return False
    if champion.author == CALLER or run.is_declined(champion) or champion.id == run.thoughts[0].id:
        return False
    return _known(run, champion) != "second" or not _wins_in_doubt(run, champion, base)


async def look_back(run: Run, judge: Judge, status: RunStatus, reason: StopReason) -> Anchored:
    """The comparison. What is measured decides without a model call; else the judge does."""
    champion, base = _ends(run)
    decision, settled = first_difference(RULES, champion, base), True
    if decision is None:
        with scope(f"{place(run, len(run.thoughts))}/anchor"):
            decision, settled = await _judged(run, judge, champion, base)
    return Anchored(
        decision=decision,
        champion_id=base.id,
        settled=settled,
        status=status,
        stop_reason=reason,
    )


def unchecked(run: Run, status: RunStatus, reason: StopReason) -> Anchored:
    """The end without the comparison, when there is no time for it: the champion stays."""
    _, base = _ends(run)
    decision = Decision(
        accepted=True, by="judge", over=base.iteration, note="the budget of seconds is spent"
    )
    return Anchored(decision=decision, settled=False, status=status, stop_reason=reason)


def reserved_calls(run: Run) -> tuple[int, int]:
    """The judge's calls that each further version needs, and those needed once.

    There must be room for the look back before a second version is written. A budget too small for
    that still buys one version.
    """
    config = run.config
    return 2 * (config.policy == "judged"), 2 * (config.look_back or 0) * bool(attempts(run))


def look_back_check(run: Run) -> tuple[Check, ...]:
    """The look back among the checks of a finished run's text; none where none was needed."""
    if not run.finished:
        return ()
    if (ending := run.ending) is not None:
        broke_off = None if ending.settled else ending.decision.reason
        return (Check(what=_WHAT, done=ending.settled, reason=broke_off),)
    if run.config.look_back and needs_look_back(run):
        return (Check(what=_WHAT, done=False, reason="the run ended before the comparison"),)
    return _compared_by_critics(run)


def _compared_by_critics(run: Run) -> tuple[Check, ...]:
    """The comparison that critics made in the same answer as their opinion."""
    champion = run.champion
    if champion is None or champion.author in {"input", EDITOR}:
        return ()
    is_compared = any(PREFERRED in f.details for f in champion.critic_feedback)
    return (Check(what=_WHAT, done=True),) if is_compared else ()


async def _judged(
    run: Run, judge: Judge, champion: Thought, base: Thought
) -> tuple[Decision, bool]:
    """The judge's decision, and False when the comparison broke off."""
    found = await compare_in_both_orders(judge, champion, base, _known(run, champion))
    for number in range(2, 1 + (run.config.look_back or 1)):
        if found.preferred != "candidate":
            break
        again = as_reading(number, champion), as_reading(number, base)
        with scope(f"reading {number}"):
            found = await compare_in_both_orders(judge, *again)
    in_doubt = bool(found.broke_off) or _wins_in_doubt(run, champion, base)
    decision = Decision(
        accepted=found.preferred == "candidate" or (in_doubt and found.preferred is None),
        by="judge",
        over=base.iteration,
        votes=None if found.broke_off else counted(found),
        clear=bool(found.preferred or found.broke_off),
        note=found.broke_off or "",
    )
    return decision, not found.broke_off


def _known(run: Run, champion: Thought) -> Preference | None:
    """The answer of a review that compared the version with the input, which stood first."""
    if run.config.look_back != 1:
        return None
    said = [f.details[PREFERRED] for f in champion.critic_feedback if PREFERRED in f.details]
    return _ANSWERS[str(said[0])] if said else None


def _wins_in_doubt(run: Run, champion: Thought, base: Thought) -> bool:
    """True for a version with a reason of its own: a task, or mistakes of the input that it mends.

    Any other must be shown to be better than the input.
    """
    return bool(run.prompt) or len(champion.mistakes) < len(base.mistakes)


def _ends(run: Run) -> tuple[Thought, Thought]:
    champion, base = run.champion, _base(run)
    assert champion is not None, "the run needs the look back"
    assert base is not None, "the run needs the look back"
    return champion, base


def _base(run: Run) -> Thought | None:
    """The input, or the editor's version of it; None where there is no text to go back to."""
    original = run.original
    if original is None or original.author != "input" or not original.text.strip():
        return None
    if len(run.thoughts) == 1:
        return original
    edited = run.thoughts[1]
    decision = run.decisions.get(edited.id)
    is_certain = edited.author == EDITOR and decision is not None and decision.accepted
    return edited if is_certain else original
