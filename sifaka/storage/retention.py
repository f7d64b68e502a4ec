"""Forgetting and moving runs by policy: first a plan that changes nothing, then what it says."""

import logging
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

from anyio import CancelScope
from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.errors import ConfigurationError, SifakaError, StorageError, ThoughtNotFound
from sifaka.record.entries import FINAL, Started
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.log import copy_run, every_run
from sifaka.storage.protocol import Eraser, ThoughtStore
from sifaka.storage.store import erase_each

logger = logging.getLogger(__name__)
_AT_ONCE = 500
"""Runs that are deleted in one step."""


class Policy(Frozen):
    """The runs of a tenant to keep; a field that is None sets no limit."""

    max_age: timedelta | None = Field(default=None, ge=timedelta(0))
    """Since the last entry."""
    max_runs: int | None = Field(default=None, ge=0)
    """The newest so many."""
    keep_unfinished: bool = True
    """True keeps runs that are at work or wait for a revision, whatever their number.

    They count, though, and by their age they are forgotten like all others.
    """


class Leaving(Frozen):
    """A run that a policy does not keep."""

    run: RunSummary
    reason: str


class RetentionPlan(Frozen):
    """The effect of a policy on a store at one moment."""

    leaving: tuple[Leaving, ...]
    """Newest first."""
    kept_runs: int


class RetentionFailure(Frozen):
    """A run that should have left and is still there."""

    leaving: Leaving
    error: str
    """The error and its suggestion, in one line."""


class Outcome(Frozen):
    """The outcome of a plan."""

    gone: tuple[Leaving, ...]
    failed: tuple[RetentionFailure, ...]


async def plan(store: ThoughtStore, policy: Policy, now: datetime | None = None) -> RetentionPlan:
    """The runs that the store's tenant would lose; nothing is changed.

    Args:
        store: The store, as the tenant sees it whose policy it is.
        policy: The runs that stay.
        now: The moment that ages are counted from.
    """
    moment = now or datetime.now(UTC)
    leaving: list[Leaving] = []
    runs = 0
    async with aclosing(every_run(store)) as lines:
        async for line in lines:
            runs += 1
            if reason := _reason(policy, line, moment, runs):
                leaving.append(Leaving(run=line, reason=reason))
    return RetentionPlan(leaving=tuple(leaving), kept_runs=runs - len(leaving))


async def carry_out(
    store: ThoughtStore, planned: RetentionPlan, archive: ThoughtStore | None = None
) -> Outcome:
    """Delete the runs of a plan; with an archive, each after it was copied there and compared.

    A run that has changed since it was planned stays. Doing it again goes on with what was left.
    A run that is moved is claimed first: its writer is refused, here and in the archive. What is
    appended without a claim, such as a cancellation, in the moment before it is deleted goes too.
    """
    gone: list[Leaving] = []
    failed: list[RetentionFailure] = []
    if archive is not None and planned.leaving:
        try:
            await _check_apart(store, archive)
        except SifakaError as error:
            all_ = [
                RetentionFailure(leaving=leaving, error=str(error)) for leaving in planned.leaving
            ]
            return Outcome(gone=(), failed=tuple(all_))
    at_once = _AT_ONCE if archive is None and isinstance(store, Eraser) else 1
    for begin in range(0, len(planned.leaving), at_once):
        some = planned.leaving[begin : begin + at_once]
        errors: dict[str, str] = {}
        try:
            if archive is not None:
                await _move(store, some[0].run, archive)
            else:
                stayed = await erase_each(store, [each.run for each in some])
                errors = {run_id: str(_changed(run_id)) for run_id in stayed}
        except ThoughtNotFound:
            pass  # it was gone already
        except SifakaError as error:
            errors = {each.run.run_id: str(error) for each in some}
        for each in some:
            if error := errors.get(each.run.run_id):
                failed.append(RetentionFailure(leaving=each, error=error))
            else:
                gone.append(each)
    if gone:
        try:
            await erase_each(store, ())
        except StorageError as error:
            logger.warning("the deleted runs may have left traces in the store: %s", error)
    return Outcome(gone=tuple(gone), failed=tuple(failed))


def unfinished(line: RunSummary) -> bool:
    """True when the run may still be worked on."""
    return line.status not in FINAL


def _reason(policy: Policy, line: RunSummary, now: datetime, runs: int) -> str | None:
    age = timedelta(microseconds=to_microseconds(now) - to_microseconds(line.updated_at))
    if policy.max_age is not None and age > policy.max_age:
        return "too old"
    if policy.keep_unfinished and unfinished(line):
        return None
    if policy.max_runs is not None and runs > policy.max_runs:
        return "beyond the number"
    return None


async def _move(store: ThoughtStore, line: RunSummary, archive: ThoughtStore) -> None:
    run = await store.load(line.run_id)
    if run.updated_at != line.updated_at:
        raise _changed(line.run_id)
    taken = await store.claim(line.run_id)
    run = await copy_run(store, archive, line.run_id)
    # The archive refuses every claim that the store refuses.
    while await archive.claim(line.run_id) <= taken:
        pass
    if await store.claim(line.run_id) != taken + 1 or await store.load(line.run_id) != run:
        raise StorageError(f"run {line.run_id!r} was taken up meanwhile", "try again later")
    await store.delete(line.run_id)


def _changed(run_id: str) -> StorageError:
    return StorageError(f"run {run_id!r} has changed meanwhile", "make a new plan")


async def _check_apart(store: ThoughtStore, archive: ThoughtStore) -> None:
    """Refuse an archive that is the store itself or one of its parts: deleting would empty it."""
    started = Started(prompt="Look whether this archive is a store of its own.")
    trial = Run.start(started)
    await archive.append(trial, [started], expected_version=0)
    try:
        await store.load(trial.run_id)
    except ThoughtNotFound:
        return
    finally:
        with CancelScope(shield=True):
            await archive.delete(trial.run_id)
    raise ConfigurationError(
        "the archive is the store that the runs are in, or a part of it", "name another one"
    )
