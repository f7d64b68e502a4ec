"""A queued run in Redis: the name of its task, its lease, and the state that docket notes of it.

Not by docket's own query, which would unpickle the arguments of the task.
"""

from typing import TYPE_CHECKING, Any

from sifaka_mcp.runs.work import RunKey

if TYPE_CHECKING:
    from docket import Docket

_WAITING = frozenset({b"scheduled", b"queued"})
_AHEAD = _WAITING | {b"running"}
"""States of a task that is worked on, or will be."""


def name_of(key: RunKey) -> str:
    """The name of the task of a run."""
    # The id first: what stands before a colon could be one of docket's own names.
    return f"{key.run_id}@{key.tenant}"


def lease_of(docket: "Docket", key: RunKey) -> str:
    """The key that is held for a run which is worked on beside the queue."""
    return docket.key(f"held:{name_of(key)}")


async def is_ahead(docket: "Docket", redis: Any, key: RunKey) -> bool:
    """True when a run is queued, worked on or held."""
    state = await redis.hget(docket.runs_key(name_of(key)), "state")
    return state in _AHEAD or bool(await redis.exists(lease_of(docket, key)))


async def may_begin_at(docket: "Docket", redis: Any, *, worker: str, key: RunKey) -> bool:
    """True when a run waits for a worker, or this one has taken it."""
    state, at = await redis.hmget(docket.runs_key(name_of(key)), "state", "worker")
    return state in _WAITING or (state == b"running" and at == worker.encode())
