"""A store whose process dies at a certain append."""

from collections.abc import Sequence

from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from tests.stubs.stores import PassingStore


class Killed(BaseException):
    """Stands for a process that is killed: nothing after it runs."""


class DyingStore(PassingStore):
    """Takes nothing from the nth append on.

    Args:
        inner: What is left of the process.
        number: Of the append, or of the entry of a kind.
        at: The kind of entry that is counted; appends are when None.
        kept: Whether that append itself is still kept.
        error: What is raised.
    """

    def __init__(
        self,
        inner: ThoughtStore,
        number: int,
        *,
        at: type[Entry] | None = None,
        kept: bool = False,
        error: type[BaseException] = Killed,
    ) -> None:
        super().__init__(inner)
        self.seen = 0
        self._number = number
        self._at = at
        self._kept = kept
        self._error = error

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        dead = self.seen >= self._number
        at = self._at
        self.seen += 1 if at is None else sum(isinstance(entry, at) for entry in entries)
        dies = self.seen >= self._number
        if not dies or (self._kept and not dead):
            await super().append(run, entries, expected_version=expected_version, fence=fence)
        if dies:
            raise self._error
