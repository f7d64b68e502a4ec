"""The files of one tenant's runs, read and written."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import page_of
from sifaka.storage.entry_json import decode_entries, encode_entries, replay_run
from sifaka.storage.files.durable import (
    read_stamped,
    remove,
    settle,
    settle_folder,
    stamp_of,
    write_end,
)
from sifaka.storage.files.folder import TenantFolder
from sifaka.storage.files.record import Index, KnownFile, append_lines, claim_line, parse_record
from sifaka.storage.log import check_append, holds
from sifaka.storage.protocol import RunPage

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one tenant's runs; the index of what is known of them is all tenants'."""

    folder: TenantFolder
    index: Index = field(default_factory=Index)

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
            known = self._look(path)
            if known.version != expected_version and _holds(path, expected_version, payloads):
                settle(path)
                return
            check_append(
                run.run_id,
                fence=fence,
                current=known.fence,
                expected=expected_version,
                found=known.version,
            )
            if payloads:
                after = replace(
                    _add(path, known, append_lines(payloads)),
                    version=run.version,
                    line=None if known.damaged else run.summary(),
                )
                self.index.put(path, after)

    def claim(self, run_id: str) -> int:
        """Write down that the run was taken over."""
        path = self.folder.run_file(run_id)
        self.size(run_id)  # no folder is made for a run that is unknown
        with self.folder.writing():
            known = self._look(path)
            if not known.version:
                raise ThoughtNotFound(run_id)
            fence = known.fence + 1
            self.index.put(path, replace(_add(path, known, claim_line(fence)), fence=fence))
            return fence

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
        path = self.folder.run_file(run_id)
        known = self.index.get(path)
        if known and 0 < known.version <= version:
            return ()
        content, stamp = read_stamped(path)
        record = parse_record(content)
        if not record.payloads:
            raise ThoughtNotFound(run_id)
        if not known:
            self.index.put(path, KnownFile.of(record, stamp))
        return tuple(decode_entries(run_id, record.payloads[version:], after=version))

    def size(self, run_id: str) -> int:
        """The bytes of a run's file that count."""
        known = self._look(self.folder.run_file(run_id))
        if not known.version:
            raise ThoughtNotFound(run_id)
        return known.length

    def delete(self, run_id: str) -> None:
        """Remove the run's file, if there is one."""
        path = self.folder.run_file(run_id)
        if any(stamp_of(path)):
            with self.folder.writing():
                path.unlink(missing_ok=True)
                settle_folder(self.folder.path)

    def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Remove the files of the runs that are as these lines say; the ids of the others."""
        stayed: set[str] = set()
        leaving: list[Path] = []
        paths = {line.run_id: self.folder.run_file(line.run_id) for line in lines}
        if any(any(stamp_of(path)) for path in paths.values()):
            with self.folder.writing():
                for line in lines:
                    known = self.index.get(paths[line.run_id])
                    if known is None or not known.line:
                        known = self._read_summary(paths[line.run_id])
                    if known and known.line and known.line.updated_at == line.updated_at:
                        leaving.append(paths[line.run_id])
                    elif known:
                        stayed.add(line.run_id)
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

    def _look(self, path: Path) -> KnownFile:
        """The state of a file, which is read if need be; version 0 when there is no run in it."""
        known = self.index.get(path)
        if known is None:
            content, stamp = read_stamped(path)
            known = KnownFile.of(parse_record(content), stamp)
            if content:
                self.index.put(path, known)
        return known

    def _summaries(self) -> Iterator[RunSummary]:
        paths = self.folder.run_files()
        self.index.keep_only(self.folder.path, paths)
        for path in paths:
            known = self.index.get(path)
            if known is None or not (known.line or known.damaged):
                known = self._read_summary(path)
            if known and known.line:
                yield known.line

    def _read_summary(self, path: Path) -> KnownFile | None:
        """The state of a file with its summary; one that cannot be read is logged once."""
        try:
            content, stamp = read_stamped(path)
        except OSError as failure:
            logger.warning("%s is left out of lists: %s", path, failure.strerror)
            return None
        record = parse_record(content)
        if not record.payloads:
            return None
        known = KnownFile.of(record, stamp)
        try:
            run = self._owned(path, replay_run(path.name, record.payloads))
        except StorageError as damage:
            logger.warning("%s is left out of lists: %s", path, damage.message)
            return self.index.put(path, replace(known, damaged=True))
        return self.index.put(path, replace(known, line=run.summary()))

    def _replay(self, run_id: str) -> Run:
        path = self.folder.run_file(run_id)
        payloads = parse_record(read_stamped(path)[0]).payloads
        if not payloads:
            raise ThoughtNotFound(run_id)
        return self._owned(path, replay_run(run_id, payloads))

    def _owned(self, path: Path, run: Run) -> Run:
        """The run, when the file is the one for its id."""
        own = self.folder.run_file(run.run_id)
        if own != path:
            raise StorageError(
                f"the file {str(path)!r} holds the run {run.run_id!r}",
                f"give it back its name, {own.name!r}",
            )
        return run


def _add(path: Path, known: KnownFile, lines: bytes) -> KnownFile:
    """Write lines behind what counts of the file; what is then known of it but for its content."""
    addition = lines if known.ended else b"\n" + lines
    stamp = write_end(path, known.length, addition)
    return replace(known, stamp=stamp, length=known.length + len(addition), ended=True)


def _holds(path: Path, start: int, payloads: Sequence[str]) -> bool:
    held = parse_record(read_stamped(path)[0]).payloads
    return holds(held, [payload.encode() for payload in payloads], after=start)
