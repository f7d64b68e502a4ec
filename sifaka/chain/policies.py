"""The selection policies: which version becomes the champion, and why the others do not."""

from collections.abc import Mapping, Sequence
from functools import partial, reduce

from sifaka.calls.journal import scope
from sifaka.chain.judging import Fixed, Judge, Majority, compare_in_both_orders
from sifaka.chain.recovery import place
from sifaka.chain.selection import (
    FACTS,
    OPINIONS,
    VERDICTS,
    SelectionCriterion,
    compare,
    first_difference,
)
from sifaka.chain.stop_rules import twin
from sifaka.models import CALLER
from sifaka.record.entries import Decided, Decision
from sifaka.record.provenance import issues_of
from sifaka.record.run import Run
from sifaka.record.task import PREFERRED
from sifaka.record.thought import EDITOR, Thought
from sifaka.validators.preserve import lost_spans

_NEARBY = 40
"""Characters around a span in an issue's quote up to which the issue is about that span."""

_FIRST = Decision(accepted=True, reason="the first version")
_UNJUDGED = Decision(
    accepted=True, reason="written by the caller, and nothing that was measured is worse"
)
"""Without a model that judges, the writer's judgement is the only one."""


def decide(run: Run) -> tuple[Decided, ...]:
    """The decisions on the versions of a run that are not compared yet, for policies without judge.

    They are taken one after the other, each against the champion that the one before has left.
    """
    taken: list[Decided] = []
    for candidate in run.undecided:
        decision = _FIRST
        if run.champion is not None:
            decision = _settled(run, candidate) or _compared(run, candidate)
        taken.append(Decided(thought_id=candidate.id, decision=decision))
        run = run.apply(taken[-1])
    return tuple(taken)


def contenders(run: Run) -> tuple[Thought, ...]:
    """The versions that critics are asked about: those that are not compared yet.

    Of an input and the editor's version of it, that is the one which stays by what was measured.
    """
    edited = run.drafted
    if edited == run.undecided:
        return edited
    original = _original(run)
    lost = first_difference((*FACTS, *_protection(run)), edited[0], original)
    return (original,) if lost and not lost.accepted else edited


def _compared(run: Run, candidate: Thought) -> Decision:
    if candidate.author == EDITOR and not _champion(run).critic_feedback:
        return compare(candidate, _champion(run), _original(run), (*FACTS, *_protection(run)))
    abstained = any(feedback.status == "abstained" for feedback in candidate.critic_feedback)
    if not (run.handed_over and candidate.author == CALLER and abstained):
        return compare(candidate, _champion(run), _original(run), _criteria(run))
    # That models judged the version before, and not this one, is no fault of it.
    heard = (*FACTS, *_protection(run), *VERDICTS)
    return first_difference(heard, candidate, _champion(run)) or _UNJUDGED


async def decide_by_judge(run: Run, judge: Judge) -> tuple[Decided, ...]:
    """The decisions on the versions of a run that are not compared yet, for the policy `judged`.

    What validators measure decides first, without a model call. Otherwise the judge compares each
    version with the champion that the one before has left, in both orders, and the champion stays
    unless more than half of the repeats prefer the version.
    """
    if run.config.look_back is None:
        return await _decide_on_one(run, judge)
    taken: list[Decided] = []
    for candidate in run.undecided:
        decision = _settled(run, candidate) or await _dueled(run, judge, candidate)
        taken.append(Decided(thought_id=candidate.id, decision=decision))
        run = run.apply(taken[-1])
    return tuple(taken)


async def _dueled(run: Run, judge: Judge, candidate: Thought) -> Decision:
    if run.champion is None:
        return _FIRST
    if candidate.author == EDITOR:
        return _compared(run, candidate)
    measured = first_difference((*FACTS, *_protection(run)), candidate, run.champion)
    return measured or await _judged(run, judge, candidate, run.champion)


async def _decide_on_one(run: Run, judge: Judge) -> tuple[Decided, ...]:
    """As runs decided from before `look_back`: critics picked the version that the judge saw."""
    settled = {t.id: decision for t in run.undecided if (decision := _settled(run, t))}
    open_ = [thought for thought in run.undecided if thought.id not in settled]
    if not open_:
        return _decided(settled)
    best = reduce(partial(_better, run), open_)
    beaten = {t.id: _beaten(run, t, best) for t in open_ if t.id != best.id}
    if run.champion is None:
        return _decided({**settled, **beaten, best.id: _FIRST})
    decision = first_difference((*FACTS, *_protection(run)), best, run.champion)
    if decision is None:
        decision = await _judged(run, judge, best, run.champion)
    return _decided({**settled, **beaten, best.id: decision})


def _better(run: Run, one: Thought, other: Thought) -> Thought:
    """The better one of two versions that were written at the same time."""
    original = run.original or one
    return other if compare(other, one, original, _criteria(run)).accepted else one


def _beaten(run: Run, candidate: Thought, best: Thought) -> Decision:
    decision = compare(candidate, best, run.original or best, _criteria(run))
    return Decision(accepted=False, reason=f"beside version {best.iteration}: {decision.reason}")


def _decided(decisions: Mapping[str, Decision]) -> tuple[Decided, ...]:
    """The entries, the accepted one last."""
    return tuple(
        Decided(thought_id=thought_id, decision=decision)
        for thought_id, decision in sorted(decisions.items(), key=lambda item: item[1].accepted)
    )


async def _judged(run: Run, judge: Judge, candidate: Thought, champion: Thought) -> Decision:
    config = run.config
    rule = Fixed if config.look_back is None else Majority
    with scope(f"{place(run, candidate.iteration)}/judge"):
        votes = await compare_in_both_orders(
            judge, candidate, champion, rule(repeats=config.judge_repeats)
        )
    if votes.broke_off:
        return Decision(accepted=False, reason=f"not judged: {votes.broke_off}")
    if run.handed_over and candidate.author == CALLER and votes.undecided == votes.repeats:
        return _UNJUDGED
    return Decision(
        accepted=votes.candidate * 2 > config.judge_repeats,
        reason=f"{PREFERRED} {votes.candidate} of {votes.repeats} comparisons in both orders, "
        f"version {champion.iteration} in {votes.champion}",
    )


def _settled(run: Run, candidate: Thought) -> Decision | None:
    """The decision that needs no comparison of quality, if there is one."""
    same = twin(run, candidate.text, before=candidate)
    if same is not None:
        return Decision(accepted=False, reason=f"the same text as version {same.iteration}")
    if run.champion is None:
        return None
    if ratio := _too_much(run, candidate):
        return Decision(
            accepted=False,
            reason=f"changes {ratio:.0%} of the original's words, {run.config.max_edit_ratio:.0%} "
            "are allowed",
        )
    if run.config.policy == "last" and candidate.text.strip():
        return Decision(accepted=True, reason="the last version, as the policy wants")
    return None


def _too_much(run: Run, candidate: Thought) -> float | None:
    """The share of the original's words that is changed, when that is more than allowed."""
    most, original = run.config.max_edit_ratio, _original(run).text.split()
    if most is None or not original:
        return None
    from rapidfuzz.distance import Levenshtein

    ratio = Levenshtein.distance(candidate.text.split(), original) / len(original)
    return ratio if ratio > most else None


def _criteria(run: Run) -> Sequence[SelectionCriterion]:
    return (*FACTS, *_protection(run), *OPINIONS)


def _protection(run: Run) -> tuple[SelectionCriterion, ...]:
    """The criterion of the spans that must survive a revision without a task; before any opinion.

    A span may go when an issue points at it, as that was asked for, or when the editor replaces it.
    """
    original = _original(run)
    compared = run.config.facts is not None  # by `sifaka.chain.facts`, which knows more
    if compared or not run.config.protect or run.prompt or not original.text.strip():
        return ()

    def lost(thought: Thought, _: Thought) -> float:
        while thought.author == EDITOR and thought.parent_id is not None:
            thought = run.thought(thought.parent_id)  # what the editor replaces is no loss
        gone = lost_spans(original.text, thought.text)
        if not gone:
            return 0.0
        asked = [issue.quote for version in run.thoughts for issue in issues_of(version)]
        return float(sum(not any(_points_at(quote, span) for quote in asked) for span in gone))

    return (SelectionCriterion(what="protected spans lost", measure=lost),)


def _points_at(quote: str, span: str) -> bool:
    return span in quote and len(quote) <= len(span) + _NEARBY


def _champion(run: Run) -> Thought:
    assert run.champion is not None, "the first version is always accepted"
    return run.champion


def _original(run: Run) -> Thought:
    assert run.original is not None, "every phase after `started` has a version"
    return run.original
