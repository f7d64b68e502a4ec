"""The selection policies: which version becomes the champion, and why the others do not."""

from sifaka.calls.journal import scope
from sifaka.chain.pairwise_judge import Comparison, Judge, compare_in_both_orders
from sifaka.chain.recovery import place
from sifaka.chain.stop_rules import twin
from sifaka.chain.version_comparison import COUNTED, REQUIRED, RULES, compare, first_difference
from sifaka.models import CALLER
from sifaka.models.prompt import with_original
from sifaka.record.entries import Count, Decided, Decision, Measure
from sifaka.record.outcome import written
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
