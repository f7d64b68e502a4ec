"""Work on foreign text, patterns and schemas, in processes that can be given up."""

from sifaka.isolation.pool import (
    GIVEN_UP,
    MEMORY,
    SHORT,
    SPREAD,
    WorkerProcess,
    run_limited,
    run_limited_in_thread,
    sharing,
    spread,
)

__all__ = [
    "GIVEN_UP",
    "MEMORY",
    "SHORT",
    "SPREAD",
    "WorkerProcess",
    "run_limited",
    "run_limited_in_thread",
    "sharing",
    "spread",
]
