"""What can wait in the queue, and what was refused."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sifaka.record.entries import Entry
from sifaka.storage.entry_json import decode_entries

Kind = Literal["append", "delete", "copy"]
"""`copy` stands for: make this tier's copy of the run what the authority has, if it has any."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One thing that a tier has still to be told."""

    tier: str
    tenant: str
    run_id: str
    kind: Kind
    expected_version: int = 0
    fence: int | None = None
    payloads: tuple[str, ...] = ()
    id: int = 0
    """Its place in the queue, once it is there."""

    @property
    def end(self) -> int:
        """The run's version after it."""
        return self.expected_version + len(self.payloads)

    def entries(self) -> tuple[Entry, ...]:
        """What is to be appended."""
        return tuple(decode_entries(self.run_id, self.payloads, after=self.expected_version))


@dataclass(frozen=True, slots=True)
class Refused:
    """Entries that were appended while the authority was down, and that it did not take."""

    run_id: str
    expected_version: int
    entries: tuple[Entry, ...]
    reason: str
    refused_at: datetime


@dataclass(frozen=True, slots=True)
class Known:
    """What the queue holds, as of the last look."""

    waiting: dict[str, int]
    """How much waits for each tier."""
    refused: dict[tuple[str, str], int]
    """How many entries of which tenant's run were refused."""
