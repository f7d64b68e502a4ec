"""One trial: kill, resume, and compare with the run that nobody disturbed."""

import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_ai.messages import ModelResponse

from sifaka.models.metered import usage_of
from sifaka.record.entries import Called
from sifaka.record.run import Run
from sifaka.record.usage import Usage
from tests.crashes.child import DURABLE, AtAppend, ChildFailed, Kill, Outcome, work
from tests.crashes.record import Record, outcome, read
from tests.crashes.scenario import Scenario

_Response: TypeAdapter[ModelResponse] = TypeAdapter(ModelResponse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A run that is killed once or several times."""

    scenario: Scenario
    kills: tuple[Kill, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a trial has shown."""

    outcomes: tuple[Outcome, ...] = ()
    """Of each process that was to be killed; one that was faster has `finished`."""
    unbegun: bool = False
    """Whether a process was killed before the run was on record."""
    kept: int = 0
    """Answers on record that a later process did not ask for again."""
    lost: int = 0
    """Answers that were given and not on record when the process died: they are asked for again."""
    problem: str | None = None
    """What is wrong; None when nothing is."""


def attempt(trial: Trial, folder: Path, undisturbed: Record) -> Finding:
    """Work on a run in processes that are killed, then in one that is not, and compare.

    A hang, an error and a difference are all problems of the finding, never raised.
    """
    folder.mkdir()
    try:
        finding = _attempt(trial, folder, undisturbed)
    except (AssertionError, ChildFailed) as error:
        return Finding(problem=str(error))
    shutil.rmtree(folder)  # what went wrong stays to be looked at
    return finding


def _attempt(trial: Trial, folder: Path, undisturbed: Record) -> Finding:
    outcomes: list[Outcome] = []
    before = read(folder)
    unbegun, kept = False, 0
    for kill in (*trial.kills, None):
        ended = work(folder, trial.scenario, kill)
        after = read(folder)
        _check_step(before, after, undisturbed)
        if ended == "killed" and isinstance(kill, AtAppend):
            wanted = (folder / DURABLE).read_text(encoding="ascii")
            left = len(after.payloads)
            assert left == int(wanted), f"{left} entries are left instead of {wanted}"
        unbegun = unbegun or after.run is None
        kept += before.called.total()
        before = after
        if kill is not None:
            outcomes.append(ended)
    _check_end(before, undisturbed)
    lost = before.asked.total() - before.called.total()
    return Finding(outcomes=tuple(outcomes), unbegun=unbegun, kept=kept, lost=lost)


def _check_step(before: Record, after: Record, undisturbed: Record) -> None:
    """See that a process has added to the record and asked for nothing that was on it."""
    kept = after.payloads[: len(before.payloads)]
    assert kept == before.payloads, "entries that were durable are gone or changed"
    asked = after.asked - before.asked
    again = asked - (undisturbed.called - before.called)
    assert not again, f"{again.total()} questions were asked that have an answer on record"


def _check_end(record: Record, undisturbed: Record) -> None:
    """See that the run came out as if nothing had happened, and that its account is right."""
    run, expected = record.run, undisturbed.run
    assert run is not None, "there is no run"
    assert expected is not None, "there is nothing to compare with"
    ended, wanted = outcome(run), outcome(expected)
    wrong = [what for what in wanted if ended[what] != wanted[what]]
    assert not wrong, f"differs in {wrong}: {ended[wrong[0]]!r} instead of {wanted[wrong[0]]!r}"
    assert record.called == undisturbed.called, "other questions are on record"
    _check_usage(run, asked=record.asked.total())


def _check_usage(run: Run, *, asked: int) -> None:
    """See that each call on record was charged once, and nothing that was never asked.

    A call whose answer died with its process is charged if another answer was stored after it.
    """
    charged, on_record = run.usage.model_calls, len(run.calls)
    assert on_record <= charged <= asked, f"{on_record} on record, {charged} charged, {asked} asked"
    paid = _usage_of(run.calls)
    found = (run.usage.input_tokens, run.usage.output_tokens)
    owed = (paid.input_tokens, paid.output_tokens)
    assert found >= owed, f"tokens charged: {found}, on record {owed}"
    assert charged > on_record or found == owed, f"tokens charged: {found}, on record {owed}"


def _usage_of(calls: Iterable[Called]) -> Usage:
    answers = (_Response.validate_json(call.response) for call in calls)
    return reduce(Usage.__add__, (usage_of(answer) for answer in answers), Usage())


def tally(findings: Iterable[Finding]) -> Counter[str]:
    """What the findings come to, summed up."""
    counted: Counter[str] = Counter()
    for finding in findings:
        counted["trials"] += 1
        counted["killed"] += finding.outcomes.count("killed")
        counted["faster"] += finding.outcomes.count("finished")
        counted["twice"] += finding.outcomes.count("killed") > 1
        counted["unbegun"] += finding.unbegun
        counted["kept"] += finding.kept
        counted["lost"] += finding.lost
        counted["hit"] += finding.lost > 0
        counted["problems"] += finding.problem is not None
    return counted
