"""The list of a tenant's runs; a file that cannot be read is left out and logged once."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sifaka.errors import StorageError
from sifaka.record.run import RunSummary
from sifaka.storage.cursor import NEWEST, decode_cursor, encode_cursor, position
from sifaka.storage.entry_json import replay_run
from sifaka.storage.files.durable import read_stamped
from sifaka.storage.files.folder import TenantFolder
from sifaka.storage.files.index import Index, KnownFile
from sifaka.storage.files.record import parse_record
from sifaka.storage.files.runs import check_owner
from sifaka.storage.log import RunPage

logger = logging.getLogger(__name__)


def list_recent(folder: TenantFolder, index: Index, limit: int, cursor: str | None) -> RunPage:
    """One page of runs, newest first."""
    start = NEWEST if cursor is None else decode_cursor(folder.cursor_key(), folder.tenant, cursor)
    lines = sorted(
        (line for line in _summaries(folder, index) if position(line) < start),
        key=position,
        reverse=True,
    )
    page = lines[:limit]
    # Listing alone writes nothing to a folder: only a cursor needs the key.
    return RunPage(
        runs=tuple(page),
        next_cursor=encode_cursor(folder.cursor_key(), folder.tenant, position(page[-1]))
        if page and len(lines) > limit
        else None,
    )


def _summaries(folder: TenantFolder, index: Index) -> Iterator[RunSummary]:
    paths = folder.run_files()
    index.keep_only(folder.path, paths)
    for path in paths:
        known = index.get(path)
        if known and known.line:
            yield known.line
        elif not (known and known.damaged):
            line = _read(folder, path, index)
            if line:
                yield line


def _read(folder: TenantFolder, path: Path, index: Index) -> RunSummary | None:
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
        run = check_owner(folder, path, replay_run(path.name, record.payloads))
    except StorageError as damage:
        logger.warning("%s is left out of lists: %s", path, damage.message)
        index.put(path, replace(known, damaged=True))
        return None
    return index.put(path, replace(known, line=run.summary())).line
