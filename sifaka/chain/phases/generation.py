"""Writing the next versions: one, or several at the same time."""

import logging
from dataclasses import dataclass
from functools import partial

from sifaka.calls.concurrency import fan_out
from sifaka.calls.context import Calls
from sifaka.calls.failure_log import report_failure
from sifaka.calls.journal import scope
from sifaka.chain.degradation import place, shortened
from sifaka.chain.inherited import carried
from sifaka.critics import MEMORY
from sifaka.critics.protocol import CriticComponent
from sifaka.errors import BudgetExceeded, ConfigurationError, ModelProviderError, SifakaError
from sifaka.models import Generation, Model
from sifaka.models.editor import EditorModel
from sifaka.models.sectioned import SectionedModel
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.text.input import check_text

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What the next versions are written from, and who judges them."""

    run: Run
    base: Thought
    """The champion, or what the run begins with."""
    critics: tuple[CriticComponent, ...]
    judged: bool
    """Whether a judge compares each version with the champion."""
    calls: Calls


_Written = Generation | ModelProviderError | BudgetExceeded


async def next_versions(round_: Round, writer: Model) -> tuple[Thought, ...]:
    """The versions that a writer makes of the base: one, or `width` at once with `best_of_n`.

    Of several that are written at once some may fail; the others are returned.

    Raises:
        BudgetExceeded: There is no room for a version and for judging it.
        ModelProviderError: Nothing could be written.
    """
    if isinstance(writer, EditorModel):
        number = len(round_.run.thoughts)
        # Its cut asks the validators, and those may ask a model.
        with round_.calls.active(), scope(f"{place(round_.run, number)}/edit"):
            generation = await writer.generate_with_thought(round_.base)
        return (_draft(round_, generation, writer, 0, round_.base.lessons),)
    run, first = round_.run, len(round_.run.thoughts)
    base = shortened(run, round_.base.model_copy(update={"lessons": _lessons(run)}))
    written: list[_Written] = []
    with (
        round_.calls.active(),
        round_.calls.monitor.measure("phase", "write"),
        round_.calls.ledger.within_time(),
    ):
        count, calls_each = _affordable(round_, writer, base, first)
        branches = {
            f"{place(run, first + n)}/write": partial(_generation, round_, writer, base, calls_each)
            for n in range(count)
        }
        written = list(await fan_out(branches))
    if not written:
        raise BudgetExceeded("seconds")
    generations = [each for each in written if isinstance(each, Generation)]
    failures = [each for each in written if not isinstance(each, Generation)]
    if not generations:
        raise failures[0]
    return tuple(
        _draft(round_, each, writer, n, base.lessons) for n, each in enumerate(generations)
    )


def _affordable(round_: Round, writer: Model, base: Thought, first: int) -> tuple[int, float]:
    """How many versions there is room for, and how many calls writing each of them may take.

    Those are included whose answers are on record. A version that nobody can judge any more is not
    worth paying for, but for the first.

    Raises:
        BudgetExceeded: Not even for one.
    """
    ledger, config = round_.calls.ledger, round_.run.config
    judging = once = 0
    if base.text:
        judging = sum(critic.calls(base.text) for critic in round_.critics)
        once = 2 * config.judge_repeats if round_.judged else 0
    places = (f"{place(round_.run, first + n)}/write" for n in range(config.width))
    recorded = round_.calls.journal.recorded_at(*places)
    if not recorded:
        ledger.require(1 + judging + once)
    room = ledger.calls_left + recorded - once
    wanted = 1
    if config.width > 1 and isinstance(writer, SectionedModel):
        wanted = writer.calls_for(base)
    counts = range(config.width, 1, -1)
    count = next((n for n in counts if n * (wanted + judging) <= room), 1)
    return count, max(1.0, room / count - judging)


async def _generation(round_: Round, writer: Model, base: Thought, calls: float) -> _Written:
    try:
        if isinstance(writer, SectionedModel):
            generation = await writer.generate_within(base, calls)
        else:
            generation = await writer.generate_with_thought(base)
    except (ModelProviderError, BudgetExceeded) as error:
        return error  # the others go on: they are paid for
    except SifakaError:
        raise
    except Exception as error:
        # A bug stays a bug and is raised; the log and its traceback name the model.
        source = writer.writer if isinstance(writer, SectionedModel) else writer
        run_id = round_.run.run_id
        report_failure(logger, f"model:{writer.name}", error, source=source, run_id=run_id)
        error.add_note(f"in the model {writer.name!r}")
        raise
    if not generation.metered:
        round_.calls.ledger.charge(generation.usage)
    try:
        check_text(generation.text, "the answer")
    except ConfigurationError as error:
        return ModelProviderError(
            f"{writer.name}: {error.message}", "choose another model", code="malformed"
        )
    return generation


def _draft(
    round_: Round,
    generation: Generation,
    writer: Model,
    candidate: int,
    lessons: tuple[str, ...],
) -> Thought:
    run, base = round_.run, round_.base
    changes = {
        "author": generation.author or writer.name,
        "model_prompt": generation.prompt_used,
        "tool_calls": generation.tool_calls,
        "metadata": {**carried(base), **generation.metadata},
        "usage": generation.usage,
        "lessons": lessons,
    }
    if run.thoughts:
        following = base.next_iteration(
            iteration=len(run.thoughts) + candidate, candidate=candidate
        )
        # Stored without its history, which `Run` knows from the parents.
        return following.with_text(generation.text, history=(), **changes)
    opening = Thought(
        prompt=base.prompt,
        run_id=base.run_id,
        iteration=candidate,
        candidate=candidate,
        pre_generation_context=base.pre_generation_context,
    )
    return opening.with_text(generation.text, **changes)


def _lessons(run: Run) -> tuple[str, ...]:
    """What past runs have taught, and the last reflections on this run's versions."""
    said = [f.reflection for t in run.thoughts for f in t.critic_feedback if f.reflection]
    return (*run.remembered, *tuple(dict.fromkeys(said))[-MEMORY:])
