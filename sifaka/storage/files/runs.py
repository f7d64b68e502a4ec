"""The files of one tenant's runs, read and written."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import page_of
from sifaka.storage.entry_json import decode_entries, encode_entries, replay_run
from sifaka.storage.files.durable import (
    Stamp,
    read_stamped,
    remove,
    settle,
    settle_folder,
    stamp_of,
    write_end,
)
from sifaka.storage.files.folder import TenantFolder
from sifaka.storage.files.record import FileRecord, append_lines, claim_line, parse_record
from sifaka.storage.log import check_append, holds
from sifaka.storage.protocol import RunPage

logger = logging.getLogger(__name__)
_KEPT = 16
"""Files whose records are kept for the next append: those at work."""


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one tenant's runs; what was read of them for lists is all tenants'."""

    folder: TenantFolder
    _lines: dict[Path, tuple[Stamp, RunSummary | None]] = field(
        default_factory=dict[Path, tuple[Stamp, RunSummary | None]]
    )
    """The line of each run as of a state of its file; None for one that cannot be read."""
    _records: dict[Path, tuple[Stamp, FileRecord]] = field(
        default_factory=dict[Path, tuple[Stamp, FileRecord]]
    )
    """What was appended to last, as of a state of its file; changed under the lock alone."""

    def of(self, folder: TenantFolder) -> "RunFiles":
        """Those of another tenant."""
        return replace(self, folder=folder)

    def append(
        self, run: Run, entries: Sequence[Entry], expected_version: int, fence: int | None
    ) -> None:
        """Append under the lock, or find that it was done before."""
        payloads = encode_entries(run, entries, expected_version)
        path = self.folder.run_file(run.run_id)
        if expected_version and not self.folder.path.is_dir():
            # No folder is made for a run that is gone: a new one would seem to be an older copy.
            raise VersionConflict(run.run_id, expected=expected_version, found=0)
        with self.folder.writing():
            record = self._read(path)
            found, added = len(record.payloads), [payload.encode() for payload in payloads]
            if found != expected_version and holds(record.payloads, added, after=expected_version):
                settle(path)
                return
            check_append(
                run.run_id,
                fence=fence,
                current=record.fence,
                expected=expected_version,
                found=found,
            )
            if payloads:
                after = replace(record, payloads=(*record.payloads, *added))
                stamp = self._add(path, after, append_lines(payloads))
                if self._lines.get(path, (stamp, run))[1] is not None:
                    self._lines[path] = stamp, run.summary()

    def claim(self, run_id: str) -> int:
        """Write down that the run was taken over."""
        path = self.folder.run_file(run_id)
        self._existing(run_id)  # no folder is made for a run that is unknown
        with self.folder.writing():
            record = self._existing(run_id)
            after = replace(record, fence=record.fence + 1)
            self._add(path, after, claim_line(after.fence))
            return after.fence

    def load(self, run_id: str) -> Run:
        """The run, replayed from its file."""
        try:
            return self._replay(run_id)
        except StorageError as damage:
            # Or half an append is being cut off just now; under the lock it is certain.
            try:
                with self.folder.writing():
                    return self._replay(run_id)
            except OSError:
                raise damage from None

    def entries_after(self, run_id: str, version: int) -> tuple[Entry, ...]:
        """The entries of a run beyond a version."""
        payloads = self._existing(run_id).payloads[version:]
        return tuple(decode_entries(run_id, payloads, after=version))

    def size(self, run_id: str) -> int:
        """The bytes of a run's file that count."""
        return self._existing(run_id).length

    def delete(self, moments: Mapping[str, datetime | None]) -> frozenset[str]:
        """Remove the files of runs, where a moment is given only if the last entry is of it.

        Returns:
            The ids of those that stay.
        """
        stayed: set[str] = set()
        leaving: list[Path] = []
        paths = {run_id: self.folder.run_file(run_id) for run_id in moments}
        if any(any(stamp_of(path)) for path in paths.values()):
            with self.folder.writing():
                for run_id, path in paths.items():
                    moment = moments[run_id]
                    held = moment and self._line(path)
                    if moment is None or (held and held.updated_at == moment):
                        leaving.append(path)
                    elif any(stamp_of(path)):
                        stayed.add(run_id)
                remove(leaving)
                settle_folder(self.folder.path)
        return frozenset(stayed)

    def recent(self, limit: int, cursor: str | None) -> RunPage:
        """One page of runs, newest first."""
        return page_of(self._summaries(), limit=limit, cursor=cursor)

    def describe(self) -> str:
        """The number of runs in one line, after a trial of the lock."""
        with self.folder.writing():
            return f"{len(self.folder.run_files())} runs in {str(self.folder.path)!r}"

    def _read(self, path: Path) -> FileRecord:
        known = self._records.get(path)
        if known and known[0] == stamp_of(path):
            return known[1]
        return parse_record(read_stamped(path)[0])

    def _add(self, path: Path, after: FileRecord, lines: bytes) -> Stamp:
        """Write lines behind what counts of the file, whose record is then this one."""
        addition = lines if after.ended else b"\n" + lines
        stamp = write_end(path, after.length, addition)
        self._records.pop(path, None)
        length = after.length + len(addition)
        self._records[path] = stamp, replace(after, length=length, ended=True)
        if len(self._records) > _KEPT:
            del self._records[next(iter(self._records))]
        return stamp

    def _existing(self, run_id: str) -> FileRecord:
        record = self._read(self.folder.run_file(run_id))
        if not record.payloads:
            raise ThoughtNotFound(run_id)
        return record

    def _summaries(self) -> Iterator[RunSummary]:
        paths = self.folder.run_files()
        for gone in {path for path in list(self._lines) if path.parent == self.folder.path}:
            if gone not in paths:
                self._lines.pop(gone, None)
        for path in paths:
            if line := self._line(path):
                yield line

    def _line(self, path: Path) -> RunSummary | None:
        """The line of a run, read where its file has changed; a damaged one is logged once."""
        known = self._lines.get(path)
        if known and known[0] == stamp_of(path):
            return known[1]
        try:
            content, stamp = read_stamped(path)
        except OSError as failure:
            logger.warning("%s is left out of lists: %s", path, failure.strerror)
            return None
        payloads = parse_record(content).payloads
        if not payloads:
            return None
        line = None
        try:
            line = self._owned(path, replay_run(path.name, payloads)).summary()
        except StorageError as damage:
            logger.warning("%s is left out of lists: %s", path, damage.message)
        self._lines[path] = stamp, line
        return line

    def _replay(self, run_id: str) -> Run:
        return self._owned(
            self.folder.run_file(run_id), replay_run(run_id, self._existing(run_id).payloads)
        )

    def _owned(self, path: Path, run: Run) -> Run:
        """The run, when the file is the one for its id."""
        own = self.folder.run_file(run.run_id)
        if own != path:
            raise StorageError(
                f"the file {str(path)!r} holds the run {run.run_id!r}",
                f"give it back its name, {own.name!r}",
            )
        return run
