"""A run as a log of records, each accepted or not by what lies before it.

Tools offer no transactions and no compare-and-set, but a database puts what is added to a list into
one order. So every append and every claim is one record that says what it expects, and all readers
agree on which of them count: optimistic concurrency control by the order of a log, as in
Balakrishnan et al., "Tango" (SOSP 2013). A record that does not count stays and is passed over.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from uuid import uuid4

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.errors import StorageError
from sifaka.storage.log import check_append, holds
from sifaka.storage.tool_backed.caller import unpack


class LogRecord(Frozen):
    """One append or one claim."""

    kind: Literal["append", "claim"]
    id: str = Field(default_factory=lambda: uuid4().hex)
    """The record's own id, so that one added twice counts once."""
    after: int = 0
    """The number of entries that the run has to have before."""
    payloads: tuple[str, ...] = ()
    """The entries as JSON."""
    fence: int | None = None
    """The claim that the entries are written under; None for any claim."""


@dataclass(frozen=True, slots=True)
class LogState:
    """The state of a log up to a position."""

    position: int = -1
    last: str = ""
    """The id of the record there."""
    version: int = 0
    """The number of the run's entries."""
    fence: int = 0
    """The number of its claims."""

    def admits(self, record: LogRecord) -> bool:
        """True when a record counts that comes next."""
        if record.kind != "append":
            return self.version > 0
        fenced = record.fence is not None and record.fence < self.fence
        return record.after == self.version and not fenced


@dataclass(frozen=True, slots=True)
class Folded:
    """A log, or the end of one, that was read."""

    state: LogState
    payloads: Sequence[str] = ()
    """The entries of the records that count."""
    fences: Mapping[str, int] = field(default_factory=dict[str, int])
    """The records that count, by id, and the number of claims after each."""

    def holds(self, record: LogRecord) -> bool:
        """True when these entries are at their place in this log, read from its beginning."""
        return holds(self.payloads, record.payloads, after=record.after)

    def check(self, run_id: str, record: LogRecord) -> None:
        """Check that an append counts."""
        check_append(
            run_id,
            fence=record.fence,
            current=self.state.fence,
            expected=record.after,
            found=self.state.version,
        )


def fold(records: Iterable[tuple[int, LogRecord]], start: LogState | None = None) -> Folded:
    """The state and the entries after some records, each with its position in the log."""
    state = start or LogState()
    payloads: list[str] = []
    fences: dict[str, int] = {}
    for position, record in records:
        version, fence = state.version, state.fence
        # The same record twice in a row is one whose first answer was lost.
        if record.id != state.last and state.admits(record):
            if record.kind == "append":
                version += len(record.payloads)
                payloads += record.payloads
            else:
                fence += 1
            fences[record.id] = fence
        state = LogState(position, record.id, version, fence)
    return Folded(state, payloads, fences)


def decode_record(value: str) -> LogRecord:
    """The record of a stored value."""
    try:
        return LogRecord.model_validate_json(unpack(value))
    except ValueError as error:
        raise StorageError(
            "a record of a run cannot be read", "it was written by a newer release"
        ) from error
