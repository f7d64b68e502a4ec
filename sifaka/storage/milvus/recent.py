"""The list of recent runs."""

import json
import logging
import secrets

from sifaka.errors import StorageError
from sifaka.record.run import RunSummary
from sifaka.storage.cursor import Position, decode_cursor, encode_cursor
from sifaka.storage.milvus.connection import MilvusConnection
from sifaka.storage.milvus.read import unexpired
from sifaka.storage.milvus.rows import RunRow, summary_of, tenant_key
from sifaka.storage.protocol import RunPage

logger = logging.getLogger(__name__)
_CURSOR_KEY = "cursor-key"


def list_recent(milvus: MilvusConnection, tenant: str, limit: int, cursor: str | None) -> RunPage:
    """A page of runs, newest first."""
    start = decode_cursor(key := _cursor_key(milvus), tenant, cursor)
    # Milvus does not sort: all of the tenant's runs come, and are sorted here.
    rows = milvus.select(
        milvus.names.runs,
        f'tenant == "{tenant_key(tenant)}" and {unexpired()}',
        ("run_id", "updated_at", "about"),
    )
    placed: list[tuple[Position, str, str]] = sorted(
        ((int(row["updated_at"]), str(row["run_id"])), str(row["pk"]), str(row["about"]))
        for row in rows
    )
    after = [item for item in reversed(placed) if item[0] < start]
    page = after[:limit]
    last = page[-1][0] if page and len(after) > limit else None
    return RunPage(
        runs=tuple(line for _, _, about in page if (line := _line(about)) is not None),
        next_cursor=encode_cursor(key, tenant, last) if last else None,
    )


def _line(about: str) -> RunSummary | None:
    try:
        return summary_of(about)
    except (KeyError, ValueError):
        logger.warning("the summary of a run in Milvus cannot be read; it is left out of the list")
        return None


def _cursor_key(milvus: MilvusConnection) -> bytes:
    """What seals the cursors of these collections: kept in a row that is no run."""
    if milvus.shared.cursor_key:
        return milvus.shared.cursor_key
    for _ in range(2):
        rows = milvus.get(milvus.names.runs, [_CURSOR_KEY], ("about",), strong=True)
        if rows:
            key = bytes.fromhex(json.loads(rows[_CURSOR_KEY]["about"])["key"])
            milvus.shared.cursor_key = key
            return key
        made = RunRow(
            key=_CURSOR_KEY,
            tenant="",
            run_id="",
            revision=0,
            about=json.dumps({"key": secrets.token_hex(16)}),
        )
        milvus.put(milvus.names.runs, [made.row()])
    raise StorageError("the key of the cursors cannot be stored", "try again")
