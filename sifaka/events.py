"""What a running chain tells its listeners."""

from typing import Literal

from sifaka.entries import Entry
from sifaka.immutable import Frozen
from sifaka.run import Run

Phase = Literal["retrieve", "generate", "validate", "critique", "select", "recover", "stop"]


class ChainEvent(Frozen):
    """A phase that begins or, when it carries an entry, one whose result is durable."""

    run_id: str
    iteration: int
    phase: Phase
    message: str
    """What is being done or was found, for a person."""
    entry: Entry | None = None
    """What was stored, once it was."""
    run: Run | None = None
    """The run after that entry."""
