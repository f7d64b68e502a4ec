"""The selection policies: which version becomes the champion, and why the others do not.

At the end of a run the best version is compared with the input once more: the look back. Each step
of a long way may be a small loss that critics or a judge took for a gain; the comparison of the two
ends sees the sum. Where a review has compared them already, with the input first, only the other
order is asked, and only where its answer can change the end. The input means the editor's
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
    words_changed,
)
from sifaka.models import CALLER
from sifaka.models.prompt import with_original
from sifaka.record.entries import Count, Decided, Decision, Measure
from sifaka.record.outcome import source_of
from sifaka.record.results import PREFERRED
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought


async def decide(run: Run, judge: Judge | None = None) -> tuple[Decided, ...]:
    """The decisions on the versions of a run that are not compared yet.

    They are taken one after the other, each against the champion that the one before has left.
    """
    taken: list[Decided] = []
    for candidate in run.undecided:
        decision = Decision(accepted=True, by="first")
        if (champion := run.champion) is not None:
            decision = await _decide(run, judge, candidate, champion)
        taken.append(Decided(thought_id=candidate.id, decision=decision))
        run = run.apply(taken[-1])
    return tuple(taken)


async def _decide(run: Run, judge: Judge | None, candidate: Thought, champion: Thought) -> Decision:
    """Whether a version takes the champion's place: the first reason that applies decides.

    What is measured comes first, without a model call, and the policy `last` asks for no more. No
    opinion outweighs a required rule that is broken, or a difference that is open. Otherwise a
    judge, where there is one, compares the two, and the champion stays unless the version is
    preferred in both orders.
    """
    original, over = run.thoughts[0], champion.iteration
    same = twin(run, candidate.text, before=candidate)
    # The caller may hand a refused version in again, with a reason for what differs.
    is_answered = candidate.id in run.declined and candidate.text != champion.text
    if same is not None and not is_answered:
        return Decision(accepted=False, by="same_text", over=same.iteration)
    if (most := run.config.max_edit_ratio) is not None:
        share = words_changed(original, candidate) / max(1, len(original.text.split()))
        measure = Measure(criterion="share of words changed", new=share, old=most)
        if share > most:
            return Decision(accepted=False, by="size", over=original.iteration, measure=measure)
    if run.config.policy == "last" and candidate.text.strip():
        return Decision(accepted=True, by="policy")
    if candidate.author == EDITOR and not champion.critic_feedback:
        return compare(candidate, champion, original, COUNTED)
    if broken := _find_breach(candidate, champion):
        return broken
    if unanswered := candidate.findings.open:
        ids = tuple(each.id for each in unanswered)
        return Decision(accepted=False, by="differences", over=over, differences=ids)
    if judge is not None and candidate.author != EDITOR:
        measured = first_difference(RULES, candidate, champion)
        return measured or await _ask_judge(run, judge, candidate, champion)
    # The caller's judgement stands where no critic was asked for another.
    judged = any(f.judges_task and f.status == "ok" for f in candidate.critic_feedback)
    if source_of(run, candidate).author == CALLER and not judged:
        return Decision(accepted=True, by="caller", over=over)
    return compare(candidate, champion, original)


def contenders(run: Run) -> tuple[Thought, ...]:
    """The versions that critics are asked about: those not compared yet that can still win.

    Of an input and the editor's version of it, that is the one which stays by what was measured.
    """
    edited, champion = run.drafted, run.champion
    if edited == run.undecided:
        return tuple(v for v in edited if champion is None or not _find_breach(v, champion))
    original = run.thoughts[0]
    lost = first_difference(COUNTED, edited[0], original)
    return (original,) if lost and not lost.accepted else edited


def _find_breach(candidate: Thought, champion: Thought) -> Decision | None:
    """The refusal of a version that breaks more required rules than the champion."""
    decision = first_difference(REQUIRED, candidate, champion)
    return None if decision is None or decision.accepted else decision


async def _ask_judge(run: Run, judge: Judge, candidate: Thought, champion: Thought) -> Decision:
    with scope(f"{place(run, candidate.iteration)}/judge"):
        new, old = (with_original(each, run.original) for each in (candidate, champion))
        outcome = await compare_in_both_orders(judge, new, old)
    if run.handed_over and candidate.author == CALLER and outcome.preferred is None:
        return Decision(accepted=True, by="caller", over=champion.iteration)
    return _decision_of(outcome, champion, accepted=outcome.preferred == "candidate")


def _decision_of(
    outcome: Comparison, champion: Thought, *, accepted: bool, clear: bool = True
) -> Decision:
    """What a judge's comparison decides, as it is put on record."""
    votes = Count(
        candidate=int(outcome.preferred == "candidate"),
        champion=int(outcome.preferred == "champion"),
        repeats=1,
    )
    return Decision(
        accepted=accepted,
        by="judge",
        over=champion.iteration,
        votes=None if outcome.broke_off else votes,
        clear=clear,
        note=outcome.broke_off or "",
    )


_WHAT = "no worse than the input"
_ANSWERS: Mapping[str, Preference] = {"original": "first", "text": "second", "neither": "neither"}


def ends_to_compare(run: Run) -> tuple[Thought, Thought] | None:
    """The best version and the input that it is to be compared with at the end of a run.

    None unless a version that only opinions may have preferred has replaced the input. The
    caller's own version is not looked back from: the caller has judged it. Nor is one that a review
    prefers and that is kept in doubt: no answer could change that.
    """
    champion, base = run.champion, _find_base(run)
    if not run.config.look_back or champion is None or base is None or champion.id == base.id:
        return None
    if champion.author == CALLER or run.is_declined(champion) or champion.id == run.thoughts[0].id:
        return None
    stays = _find_answer(run, champion) == "second" and _wins_in_doubt(run, champion, base)
    return None if stays else (champion, base)


async def look_back(
    run: Run, judge: Judge, champion: Thought, base: Thought
) -> tuple[Decision, bool]:
    """The decision on the two ends of a run, and False when their comparison broke off.

    What is measured decides without a model call; else the judge does.
    """
    if measured := first_difference(RULES, champion, base):
        return measured, True
    with scope(f"{place(run, len(run.thoughts))}/anchor"):
        outcome = await compare_in_both_orders(judge, champion, base, _find_answer(run, champion))
        for number in range(2, 1 + (run.config.look_back or 1)):
            if outcome.preferred != "candidate":
                break
            again = as_reading(number, champion), as_reading(number, base)
            with scope(f"reading {number}"):
                outcome = await compare_in_both_orders(judge, *again)
    in_doubt = bool(outcome.broke_off) or _wins_in_doubt(run, champion, base)
    stays = outcome.preferred == "candidate" or (in_doubt and outcome.preferred is None)
    clear = bool(outcome.preferred or outcome.broke_off)
    return _decision_of(outcome, base, accepted=stays, clear=clear), not outcome.broke_off


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
    if run.config.look_back and ends_to_compare(run):
        return (Check(what=_WHAT, done=False, reason="the run ended before the comparison"),)
    champion = run.champion
    if champion is None or champion.author in {"input", EDITOR}:
        return ()
    # Critics may have made the comparison in the same answer as their opinion.
    is_compared = any(PREFERRED in f.details for f in champion.critic_feedback)
    return (Check(what=_WHAT, done=True),) if is_compared else ()


def _find_answer(run: Run, champion: Thought) -> Preference | None:
    """The answer of a review that compared the version with the input, which stood first."""
    if run.config.look_back != 1:
        return None
    answers = [f.details[PREFERRED] for f in champion.critic_feedback if PREFERRED in f.details]
    return _ANSWERS[str(answers[0])] if answers else None


def _wins_in_doubt(run: Run, champion: Thought, base: Thought) -> bool:
    """True for a version with a reason of its own: a task, or mistakes of the input that it fixes.

    Any other must be shown to be better than the input.
    """
    return bool(run.prompt) or len(champion.mistakes) < len(base.mistakes)


def _find_base(run: Run) -> Thought | None:
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
