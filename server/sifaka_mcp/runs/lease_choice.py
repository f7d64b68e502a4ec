"""Which leases suit a store."""

from pathlib import Path

from sifaka.storage.catalogue import deciding_url
from sifaka_mcp.runs.files import FileLeases
from sifaka_mcp.runs.leases import Leases, NoLeases
from sifaka_mcp.runs.switch import DeadManSwitches, TakeOver
from sifaka_mcp.stores.catalogue import redis_of


def open_leases(
    store: str, *, home: Path, tenant: str, seconds: float, take_over: TakeOver
) -> Leases:
    """Leases that the processes see which share a store; nothing is touched yet.

    Args:
        store: The store's URL. Where Redis decides about runs it keeps the leases too, and passes
            them on. Of another store, the processes with the same home folder see them.
        home: Where leases are kept as files.
        tenant: Processes of one tenant do not take over those of another.
        seconds: How long a worker may be silent before it is taken for dead.
        take_over: Goes on with a run whose worker is dead.
    """
    deciding = deciding_url(store)
    if deciding.lower().startswith("memory:"):
        return NoLeases()
    shared = redis_of(deciding, tenant=tenant)
    if shared is None:
        return FileLeases(home / "running")
    url, prefix = shared
    return DeadManSwitches(url, name=f"{prefix}:takeover", seconds=seconds, take_over=take_over)
