"""The selection policies: which version becomes the champion, and why the others do not.

At the end of a run the best version is compared with the input once more: the look back. Each step
of a long way may be a small loss that critics or a judge took for a gain; the comparison of the two
ends sees the sum. Where a review has compared them already, with the input first, only the other
order is asked, and only where its answer can change what stands. The input means the editor's
version of it where there is one: its edits are certain one by one.
"""

from collections.abc import Mapping

from sifaka.calls.context import scope
from sifaka.chain.recovery import place
from sifaka.chain.review import Check
from sifaka.chain.stop_rules import attempts, twin
from sifaka.chain.version_comparison import (
    COUNTED,
    REQUIRED,
    RULES,
    Comparison,
    Judge,
    Preference,
    as_reading,
    compare,
    compare_in_both_orders,
    first_difference,
)
from sifaka.models import CALLER
from sifaka.models.prompt import with_original
from sifaka.record.entries import Anchored, Count, Decided, Decision, Measure, RunStatus, StopReason
from sifaka.record.outcome import written
from sifaka.record.results import PREFERRED
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought

_FIRST = Decision(accepted=True, by="first")


async def decide(run: Run, judge: Judge | None = None) -> tuple[Decided, ...]:
    """The decisions on the versions of a run that are not compared yet.

    They are taken one after the other, each against the champion that the one before has left. What
    is measured decides first, without a model call. Otherwise a judge, where there is one, compares
    the two, and the champion stays unless the version is preferred in both orders.
    """
    taken: list[Decided] = []
    for candidate in run.undecided:
        decision = _FIRST
        if run.champion is not None:
            decision = _settled(run, candidate) or await _decision(run, judge, candidate)
        taken.append(Decided(thought_id=candidate.id, decision=decision))
        run = run.apply(taken[-1])
    return tuple(taken)


def contenders(run: Run) -> tuple[Thought, ...]:
    """The versions that critics are asked about: those not compared yet that can still win.

    Of an input and the editor's version of it, that is the one which stays by what was measured.
    """
    edited = run.drafted
    if edited == run.undecided:
        return tuple(
            each for each in edited if run.champion is None or not _breaks_rules(run, each)
        )
    original = run.thoughts[0]
    lost = first_difference(COUNTED, edited[0], original)
    return (original,) if lost and not lost.accepted else edited


def _refused(run: Run, candidate: Thought) -> Decision | None:
    """The refusal of a version that no opinion can outweigh; None where there is none.

    It breaks more required rules than the version that stands, or differences are open.
    """
    if broken := _breaks_rules(run, candidate):
        return broken
    champion = _champion(run)
    if unanswered := candidate.findings.open:
        ids = tuple(each.id for each in unanswered)
        return Decision(accepted=False, by="differences", over=champion.iteration, differences=ids)
    return None


def _breaks_rules(run: Run, candidate: Thought) -> Decision | None:
    """The refusal of a version that breaks more required rules than the one that stands."""
    broken = first_difference(REQUIRED, candidate, _champion(run))
    return broken if broken is not None and not broken.accepted else None


async def _decision(run: Run, judge: Judge | None, candidate: Thought) -> Decision:
    champion = _champion(run)
    if candidate.author == EDITOR and not champion.critic_feedback:
        return compare(candidate, champion, run.thoughts[0], COUNTED)
    if refused := _refused(run, candidate):
        return refused
    if judge is not None and candidate.author != EDITOR:
        measured = first_difference(RULES, candidate, champion)
        return measured or await _judged(run, judge, candidate, champion)
    # The caller's judgement stands where no critic was asked for another.
    judged = any(f.judges_task and f.status == "ok" for f in candidate.critic_feedback)
    if written(run, candidate).author == CALLER and not judged:
        return Decision(accepted=True, by="caller", over=champion.iteration)
    return compare(candidate, champion, run.thoughts[0])


async def _judged(run: Run, judge: Judge, candidate: Thought, champion: Thought) -> Decision:
    with scope(f"{place(run, candidate.iteration)}/judge"):
        new, old = (with_original(each, run.original) for each in (candidate, champion))
        found = await compare_in_both_orders(judge, new, old)
    if run.handed_over and candidate.author == CALLER and found.preferred is None:
        return Decision(accepted=True, by="caller", over=champion.iteration)
    if found.broke_off:
        return Decision(accepted=False, by="judge", over=champion.iteration, note=found.broke_off)
    return Decision(
        accepted=found.preferred == "candidate",
        by="judge",
        over=champion.iteration,
        votes=counted(found),
    )


def counted(found: Comparison) -> Count:
    """A comparison as it is put on record."""
    return Count(
        candidate=int(found.preferred == "candidate"),
        champion=int(found.preferred == "champion"),
        repeats=1,
    )


def _settled(run: Run, candidate: Thought) -> Decision | None:
    """The decision that needs no comparison of quality, if there is one."""
    same = twin(run, candidate.text, before=candidate)
    if same is not None and not _is_answered(run, candidate):
        return Decision(accepted=False, by="same_text", over=same.iteration)
    if ratio := _too_much(run, candidate):
        most = run.config.max_edit_ratio or 0.0
        measure = Measure(criterion="share of words changed", new=ratio, old=most)
        return Decision(accepted=False, by="size", over=run.thoughts[0].iteration, measure=measure)
    if run.config.policy == "last" and candidate.text.strip():
        return Decision(accepted=True, by="policy")
    return None


def _is_answered(run: Run, candidate: Thought) -> bool:
    """True when the caller hands a refused version in again, with a reason for what differs."""
    return candidate.id in run.declined and candidate.text != _champion(run).text


def _too_much(run: Run, candidate: Thought) -> float | None:
    """The share of the original's words that is changed, when that is more than allowed."""
    most, original = run.config.max_edit_ratio, run.thoughts[0].text.split()
    if most is None or not original:
        return None
    from rapidfuzz.distance import Levenshtein

    ratio = Levenshtein.distance(candidate.text.split(), original) / len(original)
    return ratio if ratio > most else None


def _champion(run: Run) -> Thought:
    assert run.champion is not None, "the first version is always accepted"
    return run.champion


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
            decision, settled = await _compared(run, judge, champion, base)
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


async def _compared(
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
