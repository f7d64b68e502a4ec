"""What a store in tiers tells about itself."""

import anyio

from sifaka.errors import StorageError
from sifaka.storage.protocol import Health
from sifaka.storage.tiers.delivery import Delivery
from sifaka.storage.tiers.layout import Layout
from sifaka.storage.tiers.outbox import Outbox
from sifaka.storage.tiers.tier import Tier

_LOOKING_SECONDS = 5.0


def degraded_lines(
    layout: Layout, outbox: Outbox, delivery: Delivery, tenant: str
) -> tuple[str, ...]:
    """What is known not to work: of the tiers, of the queue, of this tenant's runs."""
    lines = [line for tier in layout.tiers for line in tier.store.degraded]
    for tier in layout.tiers:
        waiting = outbox.known.waiting.get(tier.name, 0)
        where = "on disk" if outbox.durable else "in memory"
        if tier.failure is not None:
            queued = f"; {waiting} appends are queued {where}" if waiting else ""
            lines.append(f"{tier.name}: {tier.failure.message}{queued}")
        elif waiting and tier is layout.authority:
            lines.append(f"{tier.name}: {waiting} appends are still queued {where}")
    for name, run_id, failure in delivery.put_aside(tenant):
        lines.append(f"{name}: run {run_id!r} is not delivered: {failure.message}")
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
    return [
        f"{layout.authority.name}: {count} entries of run {run_id!r}, appended while it was down, "
        "were refused because somebody else had gone on with the run; they are kept in the queue"
        for (owner, run_id), count in outbox.known.refused.items()
        if owner == tenant
    ]
