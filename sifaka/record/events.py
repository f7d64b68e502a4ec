"""What a running chain tells its listeners."""

from typing import Literal

from sifaka._internal.immutable import Frozen
from sifaka.record.entries import Entry
from sifaka.record.inquiry import ResearchStep
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
    """What is being done or was found, for a person."""
    research: ResearchStep | None = None
    """Which step of research it is; of the event that ends a run of research, how that ended."""
    section: int | None = None
    """The number of the section the step belongs to, from 0; None for the whole."""
    entry: Entry | None = None
    """What was stored, once it was."""
    run: Run | None = None
    """The run after that entry."""
