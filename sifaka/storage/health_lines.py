"""The condition of a composed store, in lines: what fails, what waits, what was refused."""

from collections.abc import Sequence
from functools import partial
from itertools import chain

import anyio

from sifaka.calls.context import fan_out
from sifaka.errors import StorageError
from sifaka.storage.outbox import Outbox
from sifaka.storage.parts import AnyPart, IndexPart, Part
from sifaka.storage.protocol import Health, ThoughtStore

_LOOKING_SECONDS = 5.0
_NAMED = 3
"""Runs that are named one by one; further ones are counted."""


def degraded_lines(
    log: Part[ThoughtStore], indexes: Sequence[IndexPart], outbox: Outbox, tenant: str
) -> tuple[str, ...]:
    """The known failures: of the parts, of the outbox, of this tenant's runs."""
    lines = [*log.inner.degraded]
    undelivered: list[str] = []
    waiting = dict(outbox.waiting)
    where = "on disk" if outbox.path else "in memory"
    for part in (log, *indexes):
        number, failure = waiting.pop(part.name, 0), part.failure
        count = _count(number, "append" if part is log else "run")
        if failure is not None:
            queued = f"; {count} queued {where}" if number else ""
            named = "" if part.name in failure.message else f"{part.name}: "
            lines.append(f"{named}{failure.message}{queued}")
        elif number and part is log:
            lines.append(f"{part.name}: {count} still queued {where}")
        undelivered += [
            f"{part.name}: run {run_id!r} is not delivered: {why.message}"
            for (owner, run_id), (_, why) in part.aside.items()
            if owner == tenant and (failure is None or failure.message != why.message)
        ]
    if outbox.failure is not None:
        lines.append(f"queue: {outbox.failure.message}")
    lines += [
        f"{name}: {_count(number, 'append')} queued {where} for it, and the store has no such part "
        "now"
        for name, number in waiting.items()
    ]
    lines += _some(undelivered, "more runs are not delivered")
    return (*lines, *_refusals(log.name, outbox, tenant))


async def look_at_parts(
    parts: Sequence[AnyPart], outbox: Outbox, tenant: str
) -> tuple[Health, ...]:
    """The health of every part, the log first, looked at at the same time, then of the outbox."""

    async def look(part: AnyPart) -> tuple[Health, ...]:
        slow = f"no answer within {_LOOKING_SECONDS:g} seconds"
        found = (Health(part=part.name, works=False, found=slow),)
        with anyio.move_on_after(_LOOKING_SECONDS):
            found = await part.inner.health()
        if all(line.works for line in found):
            part.try_again()
        return found

    asks = {part.name: partial(look, part) for part in parts}
    lines = chain.from_iterable(await fan_out(asks, calls_each=0))
    return (*lines, await _queue(parts[0].name, outbox, tenant))


async def _queue(log: str, outbox: Outbox, tenant: str) -> Health:
    part = f"queue {str(outbox.path)!r}" if outbox.path else "queue in memory"
    try:
        since = await outbox.oldest()
    except StorageError as failure:
        return Health(part=part, works=False, found=str(failure))
    if refusals := _refusals(log, outbox, tenant):
        return Health(part=part, works=False, found="; ".join(refusals))
    if since is None:
        return Health(part=part, works=True, found="nothing waits")
    waiting = ", ".join(f"{count} for {name}" for name, count in outbox.waiting.items())
    return Health(part=part, works=True, found=f"{waiting} wait, the first since {since:%F %T} UTC")


def _refusals(log: str, outbox: Outbox, tenant: str) -> list[str]:
    refusals = [
        f"{log}: {'1 entry' if count == 1 else f'{count} entries'} of run {run_id!r}, "
        f"appended while it was down, {'was' if count == 1 else 'were'} refused because another "
        "process had continued the run; the queue keeps them until the run is deleted"
        for (owner, run_id), count in outbox.refused.items()
        if owner == tenant
    ]
    return _some(refusals, "more runs have entries that were refused")


def _some(lines: list[str], more: str) -> list[str]:
    rest = len(lines) - _NAMED
    return lines if rest <= 0 else [*lines[:_NAMED], f"{rest} {more}"]


def _count(number: int, noun: str) -> str:
    return f"1 {noun} is" if number == 1 else f"{number} {noun}s are"
