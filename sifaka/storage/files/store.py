r"""A store in plain files: the episodic record.

A run's file is JSON Lines, an entry each, in the order of the run. Two more kinds of lines are not
entries and are not counted as such:

    {"kind":"claim","fence":3}       the run was taken over for the third time
    {"kind":"append","entries":2}    the next two entries were appended together

What follows the last append that is whole, such as half a line or one entry of two, was never
acknowledged: a process was killed, or the power failed, while it was written. It is not part of the
run, and the next append cuts it off. Half a line is never JSON, so a last line that is only lacks
its `\n`, which an editor may have taken away. Nor does it matter what else editors do to the ends
of lines: empty ones and `\r` are ignored.
"""

import json
import logging
import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Entry
from sifaka.record.run import Run, RunSummary
from sifaka.storage.cursor import page_of
from sifaka.storage.entry_json import decode_entries, encode_entries, replay_run
from sifaka.storage.files.durable import (
    FolderWorker,
    Stamp,
    exclusive,
    file_name,
    read_stamped,
    remove,
    settle,
    settle_folder,
    stamp_of,
    write_end,
)
from sifaka.storage.log import check_append, holds, look_at
from sifaka.storage.protocol import Health, RunPage
from sifaka.storage.store import ErasingStore, PolledStore, identity_of

logger = logging.getLogger(__name__)

_MARK = re.compile(rb'\{"kind":"(?:claim","fence":(\d{1,18})|append","entries":(\d{1,18}))\}')


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The contents of a run's file."""

    payloads: tuple[bytes, ...] = ()
    """The JSON of each entry."""
    fence: int = 0
    """The number of the last claim of the run."""
    length: int = 0
    """The bytes of the file that are whole appends and claims."""
    ended: bool = True
    """True when the last of these bytes is a `\\n`, as it should be."""


def parse_record(content: bytes) -> FileRecord:
    """The record in a file's content; entries are not parsed."""
    payloads: list[bytes] = []
    complete = fence = length = position = missing = 0
    *lines, rest = content.split(b"\n")
    with suppress(ValueError):  # half a line
        json.loads(rest)
        lines.append(rest)
    for ending in lines:
        position = min(position + len(ending) + 1, len(content))
        line = ending.removesuffix(b"\r")
        if not line:
            continue
        mark = _MARK.fullmatch(line) if not missing else None
        if mark is None:
            payloads.append(line)
            missing -= missing > 0
        elif mark[1]:
            fence = int(mark[1])
        else:
            missing = int(mark[2])
        if not missing:
            complete, length = len(payloads), position
    ended = not length or content[length - 1 : length] == b"\n"
    return FileRecord(tuple(payloads[:complete]), fence, length, ended)


def append_lines(payloads: Sequence[str]) -> bytes:
    """The lines of one append; reading takes all of its entries or none."""
    mark = [f'{{"kind":"append","entries":{len(payloads)}}}'] if len(payloads) > 1 else []
    return "".join(f"{line}\n" for line in (*mark, *payloads)).encode()


def claim_line(fence: int) -> bytes:
    """The line that says who may append from now on."""
    return f'{{"kind":"claim","fence":{fence}}}\n'.encode()


_ENDING = ".jsonl"


class FileStorage(ErasingStore, PolledStore):
    """A `ThoughtStore` of JSON Lines files, `<folder>/<tenant>/<run>.jsonl`, an entry each line.

    Any program can read them; `sifaka.storage.files.store` has their form. Several processes may
    use a folder at the same time. An append that has returned survives the end of the process and
    of the power supply; one that was interrupted leaves nothing. Folders and files are created on
    first use, for their owner only, and no file stays open.

    The first list reads all runs; later lists read those that have changed. A search reads all.

    Args:
        folder: The folder of the files; a relative path is resolved now.
        tenant: The tenant whose runs are seen.
    """

    def __init__(self, folder: str | Path, *, tenant: str = "default") -> None:
        self.folder = Path(folder).absolute()
        super().__init__(f"file:///{self.folder}", tenant)
        self._lines: dict[Path, tuple[Stamp, RunSummary | None]] = {}
        """The line of each run as of a state of its file; None for one that cannot be read."""
        self._records: dict[Path, tuple[Stamp, FileRecord]] = {}
        """What was appended to last, as of a state of its file; changed under the lock alone."""
        # A writer has the lock alone anyway.
        self._writer = FolderWorker(self.folder, 1)
        self._readers = FolderWorker(self.folder, 4)

    async def _append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None
    ) -> None:
        await self._writer.run(
            lambda _: self._append_to_file(run, entries, expected_version, fence)
        )

    async def _read_identity(self) -> str:
        return identity_of(self.folder)

    async def claim(self, run_id: str) -> int:
        """Take a run over; see `ThoughtStore.claim`."""
        return await self._writer.run(lambda _: self._write_claim(run_id))

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        return await self._readers.run(lambda _: self._load_run(run_id))

    async def entries_after(self, run_id: str, version: int, /) -> Sequence[Entry]:
        """The entries of a run beyond a version."""

        def read(_: Path) -> Sequence[Entry]:
            payloads = self._read_existing(run_id).payloads[version:]
            return tuple(decode_entries(run_id, payloads, after=version))

        return await self._readers.run(read)

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs, newest first; one that is updated meanwhile moves to the front."""
        return await self._readers.run(
            lambda _: page_of(self._list_summaries(), limit=limit, cursor=cursor)
        )

    async def _remove(self, moments: Mapping[str, datetime | None]) -> frozenset[str]:
        return await self._writer.run(lambda _: self._remove_files(moments))

    async def health(self) -> tuple[Health, ...]:
        """A trial of writing to the tenant's folder, and the number of its runs."""
        return (await look_at(self.place, lambda: self._writer.run(lambda _: self._describe())),)

    @property
    def _home(self) -> Path:
        """The folder of the tenant: a file a run, and one that is locked while any is written."""
        return self.folder / file_name(self.tenant)

    def _path(self, run_id: str) -> Path:
        """The file of the run of this id."""
        return self._home / f"{file_name(run_id)}{_ENDING}"

    def _list_paths(self) -> list[Path]:
        """The files of all runs; what is no file, such as a folder or a pipe, is not one."""
        try:
            named = [path for path in self._home.iterdir() if path.name.endswith(_ENDING)]
        except FileNotFoundError:
            return []
        # Where that is unknown, as of a link to itself, `Path.is_file` of Python 3.11 raises.
        return [path for path in named if os.path.isfile(path)]  # noqa: PTH113 - see above

    @contextmanager
    def _lock_tenant(self) -> Generator[None]:
        """Lock the tenant for writing; its folder is created if need be."""
        for folder in (self.folder, self._home):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                settle_folder(folder.parent)
        with exclusive(self._home / ".store"):
            yield

    def _append_to_file(
        self, run: Run, entries: Sequence[Entry], expected_version: int, fence: int | None
    ) -> None:
        """Append under the lock, or find that it was done before."""
        payloads = encode_entries(run, entries, expected_version)
        path = self._path(run.run_id)
        if expected_version and not self._home.is_dir():
            # No folder is made for a run that is gone: a new one would seem to be an older copy.
            raise VersionConflict(run.run_id, expected=expected_version, found=0)
        with self._lock_tenant():
            record = self._read_record(path)
            count, added = len(record.payloads), [payload.encode() for payload in payloads]
            if count != expected_version and holds(record.payloads, added, after=expected_version):
                settle(path)
                return
            check_append(
                run.run_id,
                fence=fence,
                current=record.fence,
                expected=expected_version,
                found=count,
            )
            if payloads:
                after = replace(record, payloads=(*record.payloads, *added))
                stamp = self._write_lines(path, after, append_lines(payloads))
                if self._lines.get(path, (stamp, run))[1] is not None:
                    self._lines[path] = stamp, run.summary()

    def _write_claim(self, run_id: str) -> int:
        """Write down that the run was taken over."""
        self._read_existing(run_id)  # no folder is made for a run that is unknown
        with self._lock_tenant():
            record = self._read_existing(run_id)
            after = replace(record, fence=record.fence + 1)
            self._write_lines(self._path(run_id), after, claim_line(after.fence))
            return after.fence

    def _load_run(self, run_id: str) -> Run:
        """The run, replayed from its file."""
        try:
            return self._replay_file(run_id)
        except StorageError as damage:
            # Or half an append is being cut off just now; under the lock it is certain.
            try:
                with self._lock_tenant():
                    return self._replay_file(run_id)
            except OSError:
                raise damage from None

    def _remove_files(self, moments: Mapping[str, datetime | None]) -> frozenset[str]:
        """As `_remove`. The blocks of the files are then free for the file system."""
        paths = {run_id: self._path(run_id) for run_id in moments}
        if not any(any(stamp_of(path)) for path in paths.values()):
            return frozenset()
        with self._lock_tenant():
            stayed = frozenset(
                run_id
                for run_id, path in paths.items()
                if not self._is_unchanged(moments[run_id], path) and any(stamp_of(path))
            )
            remove(path for run_id, path in paths.items() if run_id not in stayed)
            settle_folder(self._home)
        return stayed

    def _is_unchanged(self, moment: datetime | None, path: Path) -> bool:
        """True when the last entry of a file is of this moment, or any will do."""
        held = moment and self._read_summary(path)
        return moment is None or (held is not None and held.updated_at == moment)

    def _describe(self) -> str:
        """The number of runs in one line, after a trial of the lock."""
        with self._lock_tenant():
            return f"{len(self._list_paths())} runs in {str(self._home)!r}"

    def _read_record(self, path: Path) -> FileRecord:
        cached = self._records.get(path)
        if cached and cached[0] == stamp_of(path):
            return cached[1]
        return parse_record(read_stamped(path)[0])

    def _write_lines(self, path: Path, after: FileRecord, lines: bytes) -> Stamp:
        """Write lines behind what counts of the file, whose record is then this one."""
        addition = lines if after.ended else b"\n" + lines
        stamp = write_end(path, after.length, addition)
        self._records.pop(path, None)
        length = after.length + len(addition)
        self._records[path] = stamp, replace(after, length=length, ended=True)
        if len(self._records) > 16:  # those at work
            del self._records[next(iter(self._records))]
        return stamp

    def _read_existing(self, run_id: str) -> FileRecord:
        record = self._read_record(self._path(run_id))
        if not record.payloads:
            raise ThoughtNotFound(run_id)
        return record

    def _list_summaries(self) -> Iterator[RunSummary]:
        paths = self._list_paths()
        listed = {path for path in list(self._lines) if path.parent == self._home}
        for gone in listed.difference(paths):
            self._lines.pop(gone, None)
        yield from filter(None, map(self._read_summary, paths))

    def _read_summary(self, path: Path) -> RunSummary | None:
        """The line of a run, read where its file has changed; a damaged one is logged once."""
        cached = self._lines.get(path)
        if cached and cached[0] == stamp_of(path):
            return cached[1]
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
            line = self._check_path(path, replay_run(path.name, payloads)).summary()
        except StorageError as damage:
            logger.warning("%s is left out of lists: %s", path, damage.message)
        self._lines[path] = stamp, line
        return line

    def _replay_file(self, run_id: str) -> Run:
        return self._check_path(
            self._path(run_id), replay_run(run_id, self._read_existing(run_id).payloads)
        )

    def _check_path(self, path: Path, run: Run) -> Run:
        """The run, when the file is the one for its id."""
        own = self._path(run.run_id)
        if own != path:
            raise StorageError(
                f"the file {str(path)!r} holds the run {run.run_id!r}",
                f"give it back its name, {own.name!r}",
            )
        return run
