"""The phases that write: the next versions, one or several at the same time, or the end of the run.

Where the first version is researched, it comes from the researcher.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial

import anyio

from sifaka.calls.context import fan_out, scope
from sifaka.chain.acceptance import ends_to_compare, look_back, reserved_calls
from sifaka.chain.configuration import asks_a_provider
from sifaka.chain.creation import carried, with_documents
from sifaka.chain.phases import PhaseContext
from sifaka.chain.recorder import Recorder, doing
from sifaka.chain.recovery import place, section_chars, shortened
from sifaka.chain.stop_rules import find_stop_reason, no_more_attempts, twin
from sifaka.critics import MEMORY
from sifaka.errors import BudgetExceeded, ModelProviderError, SifakaError, code_of
from sifaka.models import Generation, Model
from sifaka.models.prompt import DRAFT, RULES, with_original
from sifaka.models.sectioned import calls_for, write_text
from sifaka.models.writing import (
    REFUSED,
    TURNED_DOWN,
    Attempt,
    UnfitDraft,
    attempt,
    feedback_lines,
    fixed,
)
from sifaka.record.entries import (
    Anchored,
    Decided,
    Decision,
    Drafted,
    Entry,
    Researched,
    RunStatus,
    Stopped,
    StopReason,
)
from sifaka.record.research_question import TERMINAL, ResearchStep
from sifaka.record.run import Run
from sifaka.record.thought import EDITOR, Thought
from sifaka.research.protocol import Researcher
from sifaka.text.input import check_text


async def write(context: PhaseContext) -> Sequence[Entry]:
    """Write the next versions, or stop where there is nothing left to do.

    The writers are tried in their order; the caller, for whom the run waits, is among them as None.

    Raises:
        BudgetExceeded: There is no room for a version and for judging it.
        ModelProviderError: Nothing could be written, and the caller does not stand in.
    """
    run, writers = context.recorder.run, context.parts.writers
    champion = run.champion
    if champion is None and context.parts.researcher is not None:
        return await research(context, context.parts.researcher)
    if champion is not None and (reason := find_stop_reason(run)):
        return await end(context, status="done", reason=reason)
    base = champion or await opening(context)
    if not asks_a_provider(run.config.model) and (edited := await edit(context, base)):
        return edited
    failure: ModelProviderError | None = None
    for writer in writers:
        if run.handed_over and writer is not None:
            continue
        if reason := no_more_attempts(run):
            return await end(context, status="done", reason=reason)
        if writer is None:
            if champion is None:  # the caller needs a version to submit against
                return (Drafted(thought=base),)
            return (stopped_by(failure, "needs_revision", "awaiting_revision"),)
        await context.tell("generate", f"{writer.name} writes version {len(run.thoughts)}")
        try:
            drafts = await _write_drafts(context, base, writer)
        except ModelProviderError as error:
            if None not in writers:
                raise
            failure = error  # the caller writes
            continue
        return [entry for draft in drafts for entry in _make_entries(draft)]
    return await end(context, status="done", reason="stalled" if writers else "no_safe_edit")


async def edit(context: PhaseContext, base: Thought) -> Sequence[Entry]:
    """The editor's version of a base; nothing where it makes no certain edit, or none anew."""
    run, editor = context.recorder.run, context.parts.editor
    if editor is None or not (base.text and run.is_edited):
        return ()
    with context.calls.monitor.measure("phase", "edit"):
        generation = await editor.edit_input(base)
    if generation.text == base.text or twin(run, generation.text):
        return ()
    return (Drafted(thought=_make_draft(run, base, generation, editor.name)),)


async def _write_drafts(context: PhaseContext, base: Thought, writer: Model) -> Sequence[Thought]:
    """The versions that a writer makes of a base: one, or `width` at once with `best_of_n`.

    Of several that are written at once some may fail; the others are returned.

    Raises:
        BudgetExceeded: There is no room for a version and for judging it.
        ModelProviderError: Nothing could be written.
    """
    run, calls = context.recorder.run, context.calls
    first = len(run.thoughts)
    metadata = {**base.metadata, **_collect_notes(context, base)}
    request = with_original(
        base.model_copy(update={"lessons": _collect_lessons(run), "metadata": metadata}),
        run.original,
    )
    if run.config.width == 1 and (generation := fixed(request)):
        return (_make_draft(run, base, generation, writer.name),)
    request = shortened(run, request)
    answers: Sequence[Attempt] = ()
    with calls.monitor.measure("phase", "write"), calls.ledger.within_time():
        chars, protect = section_chars(run, base.text), run.config.protect
        count, calls_each = _count_affordable(context, request, first, chars)
        write = partial(write_text, section_chars=chars, protect=protect, calls=calls_each)
        answers = await fan_out(
            {
                f"{place(run, first + n)}/write": partial(attempt, writer, _vary(request, n), write)
                for n in range(count)
            }
        )
    if not answers:
        raise BudgetExceeded("seconds")
    generations = [
        await _edit_answer(context, base, each) for each in answers if isinstance(each, Generation)
    ]
    failures = [each for each in answers if not isinstance(each, Generation)]
    # A first version that is refused has no other one beside it.
    refused = [each for each in failures if isinstance(each, UnfitDraft) and base.text]
    if not generations and not refused:
        raise failures[0]
    drafted_from = base.model_copy(update={"lessons": request.lessons})
    return [
        _make_draft(run, drafted_from, each, writer.name, candidate=n)
        # Those that are decided on already come first: what is open is at the end of a run.
        for n, each in enumerate((*(error.refused for error in refused), *generations))
    ]


def _vary(request: Thought, number: int) -> Thought:
    """The question for one of several drafts: after the first each is asked to differ."""
    line = (
        f"This is draft {number + 1} of several that are written at the same time. Where you have "
        "a choice, do not take the nearest one."
    )
    return request.with_metadata({DRAFT: (line,)}) if number else request


async def _edit_answer(context: PhaseContext, base: Thought, answer: Generation) -> Generation:
    """A model's version with the certain edits, where the run is edited."""
    run, editor = context.recorder.run, context.parts.editor
    if editor is None or not run.is_edited:
        return answer
    with scope(f"{place(run, len(run.thoughts))}/edit"):
        return await editor.edit_answer(base, answer)


def _count_affordable(
    context: PhaseContext, base: Thought, first: int, section_chars: int | None
) -> tuple[int, float]:
    """The number of versions that there is room for, and the calls that each of them may take.

    Those are included whose answers are on record. Except for the first, a version is written only
    when there is room to judge it.

    Raises:
        BudgetExceeded: Not even for one.
    """
    run, calls, parts = context.recorder.run, context.calls, context.parts
    ledger, config = calls.ledger, run.config
    judging = once = 0
    if base.text:
        judging = sum(critic.calls(base.text) for critic in parts.critics)
        if parts.judge is not None:
            compared, once = reserved_calls(run)
            judging += compared
    places = (f"{place(run, first + n)}/write" for n in range(config.width))
    # A replay has the answers of later rounds at these places, and pays for each as the run did.
    recorded = 0 if calls.replaying else calls.journal.recorded_at(*places)
    if not recorded:
        ledger.require(1 + judging + once)
    room = ledger.calls_left + recorded - once
    wanted = calls_for(base, section_chars) if config.width > 1 else 1
    counts = range(config.width, 1, -1)
    count = next((n for n in counts if n * (wanted + judging) <= room), 1)
    return count, max(1.0, room / count - judging)


def _make_draft(
    run: Run, base: Thought, generation: Generation, writer: str, *, candidate: int = 0
) -> Thought:
    changes = {
        "author": generation.author or writer,
        "model_prompt": generation.prompt_used,
        "tool_calls": generation.tool_calls,
        "metadata": {**carried(base), **generation.metadata},
        "usage": generation.usage,
        "lessons": base.lessons,
    }
    following = base.next_iteration(iteration=len(run.thoughts) + candidate, candidate=candidate)
    if not run.thoughts:
        following = following.model_copy(update={"parent_id": None})
    # Stored without its history, which `Run` knows from the parents.
    return following.with_text(generation.text, history=(), **changes)


def _make_entries(draft: Thought) -> Sequence[Entry]:
    """The entries for a version: one that is refused is decided on without being looked at."""
    refused = draft.metadata.get(REFUSED)
    if refused is None:
        return (Drafted(thought=draft),)
    decision = Decision(accepted=False, by="unfit", note=f"refused: {refused}")
    return (Drafted(thought=draft), Decided(thought_id=draft.id, decision=decision))


def _collect_lessons(run: Run) -> tuple[str, ...]:
    """The lessons of past runs, and the last reflections on this run's versions."""
    lines = [f.reflection for t in run.thoughts for f in t.critic_feedback if f.reflection]
    refused = {str(t.metadata[REFUSED]): None for t in run.thoughts if REFUSED in t.metadata}
    lines += [f"An answer was refused: {reason}. Answer with the text alone." for reason in refused]
    return (*run.remembered, *tuple(dict.fromkeys(lines))[-MEMORY:])


def _collect_notes(context: PhaseContext, base: Thought) -> Mapping[str, object]:
    """What the writer of the next version is given besides the versions."""
    run, latest = context.recorder.run, context.recorder.run.latest
    if not base.text:
        specs = [dict(each.spec()) for each in context.parts.validators]
        rules = [f"- {json.dumps(s, ensure_ascii=False)}" for s in specs if s["type"] != "object"]
        return {RULES: tuple(rules)} if rules else {}
    if (
        latest is None
        or latest.id == run.champion_id
        or latest.author in {EDITOR, "input"}
        or REFUSED in latest.metadata  # its text is no version
    ):
        return {}
    reasons = [f"- {run.decisions[latest.id].reason}", *feedback_lines(latest)]
    reasons += [f"- {each.words}: nothing asks for it" for each in latest.findings.open]
    return {TURNED_DOWN: {"text": latest.text, "reasons": "\n".join(reasons)}}


async def opening(context: PhaseContext) -> Thought:
    """The start of a run without a text: its task, and documents for it.

    Raises:
        BudgetExceeded: The time is over.
    """
    with anyio.move_on_after(context.calls.ledger.seconds_left):
        run = context.recorder.run
        first = Thought(prompt=run.prompt, run_id=run.run_id)
        return await with_documents(first, context.parts.resources.retrievers)
    raise BudgetExceeded("seconds")


async def end(context: PhaseContext, *, status: RunStatus, reason: StopReason) -> Sequence[Entry]:
    """Stop; where a version replaces the input by opinions alone, only after the look back."""
    run, judge, calls = context.recorder.run, context.parts.judge, context.calls
    ends = None if judge is None else ends_to_compare(run)
    if judge is None or ends is None:
        return (Stopped(status=status, stop_reason=reason),)
    await context.tell("select", "comparing the best version with the input")
    champion, base = ends
    late, settled = "the budget of seconds is spent", False
    decision = Decision(accepted=True, by="judge", over=base.iteration, note=late)
    with calls.monitor.measure("phase", "select"), calls.ledger.within_time():
        decision, settled = await look_back(run, judge, champion, base)
    return (
        Anchored(
            decision=decision,
            champion_id=base.id,
            settled=settled,
            status=status,
            stop_reason=reason,
        ),
    )


async def conclude(context: PhaseContext) -> Sequence[Entry]:
    """Stop after the look back."""
    ending = context.recorder.run.ending
    assert ending is not None, "the phase `anchored` has its entry"
    reason = ending.stop_reason
    if reason == "passed" and find_stop_reason(context.recorder.run) != "passed":
        reason = "stalled"  # the version that passed has lost against the original
    return (Stopped(status=ending.status, stop_reason=reason),)


async def fail(_: PhaseContext, *, error: SifakaError) -> Sequence[Entry]:
    """Stop because of an error."""
    return (stopped_by(error, "failed", "error"),)


def stopped_by(error: SifakaError | None, status: RunStatus, reason: StopReason) -> Stopped:
    """The entry for a run that an error has stopped, if there is one."""
    if error is None:
        return Stopped(status=status, stop_reason=reason)
    return Stopped(
        status=status,
        stop_reason=reason,
        error=str(error),
        code=code_of(error),
        retry_after=error.retry_after,
    )


PLACE = "research"
"""The journal's place for the calls of research."""
_UNAIDED = "unaided"


async def research(context: PhaseContext, researcher: Researcher) -> Sequence[Entry]:
    """Have the first version researched; its steps are put on record as they are made.

    Raises:
        SifakaError: Nothing came of it.
        Suspended: Answers of the host are needed.
    """
    desk, where = _Desk(context.recorder), place(context.recorder.run, PLACE)
    with context.calls.monitor.measure("phase", "research"), scope(where):
        report = await _report(researcher, context.parts.fallback_researcher, desk)
    check_text(report.text, "the report")
    run = context.recorder.run
    # It is the first version of the run, whatever its author says.
    as_first = {"iteration": 0, "candidate": 0, "parent_id": None, "history": ()}
    opened = {"prompt": run.prompt, "run_id": run.run_id, "id": f"{run.run_id}.0"}
    return (Drafted(thought=report.model_copy(update={**opened, **as_first})),)


async def _report(researcher: Researcher, fallback: Researcher | None, desk: "_Desk") -> Thought:
    try:
        return await researcher.research(desk)
    except ModelProviderError as error:
        if fallback is None:
            raise
        line = f"researched without a model, as that has failed: {error.message}"
    await desk.tell("thinking", line)
    with scope(_UNAIDED):
        return (await fallback.research(desk.unaided())).add_degraded((line,))


class _Desk:
    """See `sifaka.research.protocol.Desk`."""

    def __init__(self, recorder: Recorder, *, failures: int = 0) -> None:
        self._recorder = recorder
        self._failures = failures

    @property
    def run(self) -> Run:
        run = self._recorder.run
        return run.model_copy(update={"failures": run.failures + self._failures})

    def unaided(self) -> "_Desk":
        """The same desk for research without a model: what has failed by then is tried again."""
        return _Desk(self._recorder, failures=self._failures + 1)

    async def record(self, entry: Researched) -> None:
        _check_step(entry.step)
        await self._recorder.store(entry)

    async def tell(self, step: ResearchStep, message: str, *, section: int | None = None) -> None:
        _check_step(step)
        if self._recorder.emit is not None:
            event = doing(self.run, "research", message, research=step, section=section)
            await self._recorder.emit(event)


def _check_step(step: ResearchStep) -> None:
    if step in TERMINAL:
        raise ValueError(f"how the run ends is not for the researcher to say: {step!r}")
