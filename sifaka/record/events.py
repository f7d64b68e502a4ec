"""The events that a running chain emits."""

from collections.abc import Awaitable, Callable
from typing import Literal

from sifaka._internal.immutable import Frozen
from sifaka.record.entries import Entry
from sifaka.record.research_question import ResearchStep
from sifaka.record.run import Run

Phase = Literal[
    "research", "retrieve", "generate", "validate", "critique", "select", "recover", "stop"
]


class ChainEvent(Frozen):
    """A phase that begins or, when it carries an entry, one whose result is durable."""

    run_id: str
    iteration: int
    phase: Phase
    message: str
    """The action or finding, for a person."""
    research: ResearchStep | None = None
    """The step of research; for the event that ends a run of research, its outcome."""
    section: int | None = None
    """The number of the section the step belongs to, from 0; None for the whole."""
    entry: Entry | None = None
    """The entry, once it was stored."""
    run: Run | None = None
    """The run after that entry."""


Listener = Callable[[ChainEvent], Awaitable[None]]
"""Gets each event of a run as it happens, in the order of the record."""
