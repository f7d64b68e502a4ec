"""What a store in tiers tells about itself."""

import anyio

from sifaka.errors import StorageError
from sifaka.storage.protocol import Health
from sifaka.storage.tiers.delivery import Delivery
from sifaka.storage.tiers.layout import Layout
from sifaka.storage.tiers.outbox import Outbox
from sifaka.storage.tiers.tier import Tier

_LOOKING_SECONDS = 5.0
_NAMED = 3
"""How many runs are told of one by one; of more, their number."""


def degraded_lines(
    layout: Layout, outbox: Outbox, delivery: Delivery, tenant: str
) -> tuple[str, ...]:
    """What is known not to work: of the tiers, of the queue, of this tenant's runs."""
    lines = [line for tier in layout.tiers for line in tier.store.degraded]
    where = "on disk" if outbox.durable else "in memory"
    for tier in layout.tiers:
        waiting = outbox.known.waiting.get(tier.name, 0)
        if tier.failure is not None:
            queued = f"; {waiting} appends are queued {where}" if waiting else ""
            named = "" if tier.name in tier.failure.message else f"{tier.name}: "
            lines.append(f"{named}{tier.failure.message}{queued}")
        elif waiting and tier is layout.authority:
            lines.append(f"{tier.name}: {waiting} appends are still queued {where}")
    if outbox.failure is not None:
        lines.append(f"queue: {outbox.failure.message}")
    names = {tier.name for tier in layout.tiers}
    failing = {(tier.name, tier.failure.message) for tier in layout.tiers if tier.failure}
    lines += [
        f"{name}: {count} appends are queued {where} for it, and it is none of the tiers any more"
        for name, count in outbox.known.waiting.items()
        if name not in names
    ]
    undelivered = [
        f"{name}: run {run_id!r} is not delivered: {failure.message}"
        for name, run_id, failure in delivery.put_aside(tenant)
        if (name, failure.message) not in failing
    ]
    lines += _some(undelivered, "more runs are not delivered")
    return (*lines, *_refusals(layout, outbox, tenant))


async def look_at_tiers(layout: Layout, outbox: Outbox, tenant: str) -> tuple[Health, ...]:
    """Every tier's health, looked at at the same time, then the queue's."""
    found: dict[str, tuple[Health, ...]] = {}

    async def look(tier: Tier) -> None:
        try:
            with anyio.fail_after(_LOOKING_SECONDS):
                found[tier.name] = await tier.store.health()
        except StorageError as failure:
            found[tier.name] = (Health(part=tier.name, works=False, found=str(failure)),)
        except TimeoutError:
            slow = f"no answer within {_LOOKING_SECONDS:g} seconds"
            found[tier.name] = (Health(part=tier.name, works=False, found=slow),)
        if all(part.works for part in found[tier.name]):
            tier.try_again()

    async with anyio.create_task_group() as group:
        for tier in layout.tiers:
            group.start_soon(look, tier)
    parts = [part for tier in layout.tiers for part in found[tier.name]]
    return (*parts, await _queue(layout, outbox, tenant))


async def _queue(layout: Layout, outbox: Outbox, tenant: str) -> Health:
    part = f"queue {str(outbox.path)!r}" if outbox.path else "queue in memory"
    try:
        since = await outbox.oldest()
    except StorageError as failure:
        return Health(part=part, works=False, found=str(failure))
    if refusals := _refusals(layout, outbox, tenant):
        return Health(part=part, works=False, found="; ".join(refusals))
    if since is None:
        return Health(part=part, works=True, found="nothing waits")
    waiting = ", ".join(f"{count} for {name}" for name, count in outbox.known.waiting.items())
    return Health(part=part, works=True, found=f"{waiting} wait, the first since {since:%F %T} UTC")


def _refusals(layout: Layout, outbox: Outbox, tenant: str) -> list[str]:
    refusals = [
        f"{layout.authority.name}: {count} entries of run {run_id!r}, appended while it was down, "
        "were refused because somebody else had gone on with the run; they are kept in the queue"
        for (owner, run_id), count in outbox.known.refused.items()
        if owner == tenant
    ]
    return _some(refusals, "more runs have entries that were refused")


def _some(lines: list[str], more: str) -> list[str]:
    rest = len(lines) - _NAMED
    return lines if rest <= 0 else [*lines[:_NAMED], f"{rest} {more}"]
