"""Appending, claiming, reading and deleting one run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.entry_json import decode_entries, encode_entries, replay_run
from sifaka.storage.files.durable import read_stamped, settle, settle_folder, stamp_of, write_end
from sifaka.storage.files.folder import TenantFolder
from sifaka.storage.files.index import Index, KnownFile
from sifaka.storage.files.record import append_lines, claim_line, parse_record
from sifaka.storage.log import check_append


def append_entries(
    folder: TenantFolder,
    index: Index,
    run: Run,
    entries: Sequence[Entry],
    expected_version: int,
    fence: int | None,
) -> None:
    """Append under the lock, or find that it was done before."""
    payloads = encode_entries(run, entries, expected_version)
    path = folder.run_file(run.run_id)
    with folder.writing():
        known = look(path, index)
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
            index.put(path, after)


def claim_run(folder: TenantFolder, index: Index, run_id: str) -> int:
    """Write down that the run was taken over."""
    path = folder.run_file(run_id)
    size_of(folder, index, run_id)  # no folder is made for a run that is unknown
    with folder.writing():
        known = look(path, index)
        if not known.version:
            raise ThoughtNotFound(run_id)
        fence = known.fence + 1
        index.put(path, replace(_add(path, known, claim_line(fence)), fence=fence))
        return fence


def load_run(folder: TenantFolder, run_id: str) -> Run:
    """The run, folded from its file."""
    try:
        return _replay(folder, run_id)
    except StorageError as damage:
        # Or somebody was just cutting off half an append; while nobody writes it is certain.
        try:
            with folder.writing():
                return _replay(folder, run_id)
        except OSError:
            raise damage from None


def entries_after(
    folder: TenantFolder, index: Index, run_id: str, version: int
) -> tuple[Entry, ...]:
    """The entries of a run beyond the first so many."""
    path = folder.run_file(run_id)
    known = index.get(path)
    if known and 0 < known.version <= version:
        return ()
    content, stamp = read_stamped(path)
    record = parse_record(content)
    if not record.payloads:
        raise ThoughtNotFound(run_id)
    if not known:
        index.put(path, KnownFile.of(record, stamp))
    return tuple(decode_entries(run_id, record.payloads[version:], after=version))


def size_of(folder: TenantFolder, index: Index, run_id: str) -> int:
    """The bytes of a run's file that count."""
    known = look(folder.run_file(run_id), index)
    if not known.version:
        raise ThoughtNotFound(run_id)
    return known.length


def delete_run(folder: TenantFolder, run_id: str) -> None:
    """Remove the run's file, if there is one."""
    path = folder.run_file(run_id)
    if any(stamp_of(path)):
        with folder.writing():
            path.unlink(missing_ok=True)
            settle_folder(folder.path)


def look(path: Path, index: Index) -> KnownFile:
    """What is known of a file, which is read if need be; version 0 when there is no run in it."""
    known = index.get(path)
    if known is None:
        content, stamp = read_stamped(path)
        known = KnownFile.of(parse_record(content), stamp)
        if content:
            index.put(path, known)
    return known


def check_owner(folder: TenantFolder, path: Path, run: Run) -> Run:
    """The run, when the file is the one for its id.

    Raises:
        StorageError: The file was renamed or copied.
    """
    if folder.run_file(run.run_id) != path:
        raise StorageError(
            f"the file {str(path)!r} holds the run {run.run_id!r}",
            f"give it back its name, {folder.run_file(run.run_id).name!r}",
        )
    return run


def _replay(folder: TenantFolder, run_id: str) -> Run:
    path = folder.run_file(run_id)
    payloads = parse_record(read_stamped(path)[0]).payloads
    if not payloads:
        raise ThoughtNotFound(run_id)
    return check_owner(folder, path, replay_run(run_id, payloads))


def _add(path: Path, known: KnownFile, lines: bytes) -> KnownFile:
    """Write lines behind what counts of the file; what is then known of it but for its content."""
    addition = lines if known.ended else b"\n" + lines
    stamp = write_end(path, known.length, addition)
    return replace(known, stamp=stamp, length=known.length + len(addition), ended=True)


def _holds(path: Path, start: int, payloads: Sequence[str]) -> bool:
    held = parse_record(read_stamped(path)[0]).payloads
    end = start + len(payloads)
    return len(held) >= end and held[start:end] == tuple(payload.encode() for payload in payloads)
