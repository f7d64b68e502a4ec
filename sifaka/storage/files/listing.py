"""Going through all runs of a tenant; what cannot be read is left out and logged once."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sifaka.errors import StorageError
from sifaka.run import Run, RunSummary
from sifaka.storage.cursor import Position, decode_cursor, encode_cursor
from sifaka.storage.entry_json import replay_run
from sifaka.storage.files.durable import read_stamped
from sifaka.storage.files.folder import TenantFolder
from sifaka.storage.files.index import Index, Known
from sifaka.storage.files.record import parse_record
from sifaka.storage.files.runs import check_owner
from sifaka.storage.protocol import RunPage
from sifaka.storage.timestamps import to_microseconds

logger = logging.getLogger(__name__)


def list_recent(folder: TenantFolder, index: Index, limit: int, cursor: str | None) -> RunPage:
    """One page of runs, newest first."""
    key = folder.cursor_key()
    start = decode_cursor(key, folder.tenant, cursor)
    lines = sorted(
        (line for line in _summaries(folder, index) if _position(line) < start),
        key=_position,
        reverse=True,
    )
    page = lines[:limit]
    return RunPage(
        runs=tuple(page),
        next_cursor=encode_cursor(key, folder.tenant, _position(page[-1]))
        if page and len(lines) > limit
        else None,
    )


def readable_runs(folder: TenantFolder, index: Index) -> Iterator[Run]:
    """Every run, one after the other."""
    for path in folder.run_files():
        known = index.get(path)
        run = None if known and known.damaged else _read(folder, path, index)
        if run:
            yield run


def _summaries(folder: TenantFolder, index: Index) -> Iterator[RunSummary]:
    paths = folder.run_files()
    index.keep_only(folder.path, paths)
    for path in paths:
        known = index.get(path)
        if known and known.line:
            yield known.line
        elif not (known and known.damaged):
            run = _read(folder, path, index)
            if run:
                yield run.summary()


def _read(folder: TenantFolder, path: Path, index: Index) -> Run | None:
    content, stamp = read_stamped(path)
    record = parse_record(content)
    if not record.payloads:
        return None
    known = Known.of(record, stamp)
    try:
        run = check_owner(folder, path, replay_run(path.name, record.payloads))
    except StorageError as damage:
        logger.warning("%s is left out of lists and searches: %s", path, damage.message)
        index.put(path, replace(known, damaged=True))
        return None
    index.put(path, replace(known, line=run.summary()))
    return run


def _position(line: RunSummary) -> Position:
    return to_microseconds(line.updated_at), line.run_id
