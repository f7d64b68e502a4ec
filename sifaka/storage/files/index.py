"""The known state of each file, so that a file is read again only after a change."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sifaka.record.run import RunSummary
from sifaka.storage.files.durable import Stamp, stamp_of
from sifaka.storage.files.record import FileRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """A run's file in one of its states."""

    stamp: Stamp
    version: int
    fence: int
    length: int
    ended: bool
    line: RunSummary | None = None
    """None before the first listing, and when the file cannot be read."""
    damaged: bool = False

    @classmethod
    def of(cls, record: FileRecord, stamp: Stamp) -> "KnownFile":
        """The state of a file from its record."""
        return cls(
            stamp=stamp,
            version=len(record.payloads),
            fence=record.fence,
            length=record.length,
            ended=record.ended,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """The one mutable place, shared by all tenants' views and by their threads."""

    _files: dict[Path, KnownFile] = field(default_factory=dict[Path, KnownFile])

    def get(self, path: Path) -> KnownFile | None:
        """The known state of a file, unless the file has changed since."""
        known = self._files.get(path)
        return known if known and known.stamp == stamp_of(path) else None

    def put(self, path: Path, known: KnownFile) -> KnownFile:
        """Remember it; gives it back."""
        self._files[path] = known
        return known

    def keep_only(self, folder: Path, present: Iterable[Path]) -> None:
        """Drop the files of a folder that are not there any more."""
        for path in {path for path in list(self._files) if path.parent == folder} - set(present):
            self._files.pop(path, None)
