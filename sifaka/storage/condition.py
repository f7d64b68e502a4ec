"""The condition of a composed store, in lines: what fails, what waits, what was refused."""

from functools import partial
from itertools import chain

import anyio

from sifaka.calls.context import fan_out
from sifaka.errors import StorageError
from sifaka.storage.delivery import Delivery
from sifaka.storage.parts import AnyPart
from sifaka.storage.protocol import Health

_LOOKING_SECONDS = 5.0
_NAMED = 3
"""Runs that are named one by one; further ones are counted."""


def degraded_lines(delivery: Delivery, tenant: str) -> tuple[str, ...]:
    """The known failures: of the parts, of the outbox, of this tenant's runs."""
    outbox = delivery.outbox
    lines = [*delivery.log.inner.degraded]
    where = "on disk" if outbox.durable else "in memory"
    for part in delivery.parts:
        waiting = outbox.known.waiting.get(part.name, 0)
        of_log = part is delivery.log
        if part.failure is not None:
            count = _count(waiting, "append" if of_log else "run")
            queued = f"; {count} queued {where}" if waiting else ""
            named = "" if part.name in part.failure.message else f"{part.name}: "
            lines.append(f"{named}{part.failure.message}{queued}")
        elif waiting and of_log:
            lines.append(f"{part.name}: {_count(waiting, 'append')} still queued {where}")
    if outbox.failure is not None:
        lines.append(f"queue: {outbox.failure.message}")
    names = {part.name for part in delivery.parts}
    failing = {(part.name, part.failure.message) for part in delivery.parts if part.failure}
    lines += [
        f"{name}: {_count(count, 'append')} queued {where} for it, and the store has no such part "
        "now"
        for name, count in outbox.known.waiting.items()
        if name not in names
    ]
    undelivered = [
        f"{part.name}: run {run_id!r} is not delivered: {failure.message}"
        for part in delivery.parts
        for (owner, run_id), (_, failure) in part.aside.items()
        if owner == tenant and (part.name, failure.message) not in failing
    ]
    lines += _some(undelivered, "more runs are not delivered")
    return (*lines, *_refusals(delivery, tenant))


async def look_at_parts(delivery: Delivery, tenant: str) -> tuple[Health, ...]:
    """The health of every part, looked at at the same time, then of the outbox."""

    async def look(part: AnyPart) -> tuple[Health, ...]:
        try:
            with anyio.fail_after(_LOOKING_SECONDS):
                found = await part.inner.health()
        except StorageError as failure:
            found = (Health(part=part.name, works=False, found=str(failure)),)
        except TimeoutError:
            slow = f"no answer within {_LOOKING_SECONDS:g} seconds"
            found = (Health(part=part.name, works=False, found=slow),)
        if all(line.works for line in found):
            part.try_again()
        return found

    parts = {part.name: partial(look, part) for part in delivery.parts}
    lines = chain.from_iterable(await fan_out(parts, calls_each=0))
    return (*lines, await _queue(delivery, tenant))


async def _queue(delivery: Delivery, tenant: str) -> Health:
    outbox = delivery.outbox
    part = f"queue {str(outbox.path)!r}" if outbox.path else "queue in memory"
    try:
        since = await outbox.oldest()
    except StorageError as failure:
        return Health(part=part, works=False, found=str(failure))
    if refusals := _refusals(delivery, tenant):
        return Health(part=part, works=False, found="; ".join(refusals))
    if since is None:
        return Health(part=part, works=True, found="nothing waits")
    waiting = ", ".join(f"{count} for {name}" for name, count in outbox.known.waiting.items())
    return Health(part=part, works=True, found=f"{waiting} wait, the first since {since:%F %T} UTC")


def _refusals(delivery: Delivery, tenant: str) -> list[str]:
    name = delivery.log.name
    refusals = [
        f"{name}: {'1 entry' if count == 1 else f'{count} entries'} of run {run_id!r}, "
        f"appended while it was down, {'was' if count == 1 else 'were'} refused because another "
        "process had continued the run; the queue keeps them until the run is deleted"
        for (owner, run_id), count in delivery.outbox.known.refused.items()
        if owner == tenant
    ]
    return _some(refusals, "more runs have entries that were refused")


def _some(lines: list[str], more: str) -> list[str]:
    rest = len(lines) - _NAMED
    return lines if rest <= 0 else [*lines[:_NAMED], f"{rest} {more}"]


def _count(number: int, noun: str) -> str:
    return f"1 {noun} is" if number == 1 else f"{number} {noun}s are"
