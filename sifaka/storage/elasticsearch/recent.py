"""The list of recent runs."""

import logging
import secrets

from pydantic import ValidationError

from sifaka.record.run import RunSummary
from sifaka.storage.cursor import NEWEST, Position, decode_cursor, encode_cursor
from sifaka.storage.elasticsearch.answers import Json
from sifaka.storage.elasticsearch.documents import Documents
from sifaka.storage.protocol import RunPage
from sifaka.storage.timestamps import now_in_microseconds

_CURSOR_KEY = "cursor-key"
"""The id of the document with the key that seals cursors, the same for all processes."""
_MOST = 1000
logger = logging.getLogger(__name__)


async def read_cursor_key(documents: Documents) -> bytes:
    """The key that cursors are sealed with; drawn by who asks first."""
    runs = documents.address.runs
    document = await documents.get(runs, _CURSOR_KEY) or await documents.create(
        runs, _CURSOR_KEY, {"cursor_key": secrets.token_hex(16)}
    )
    if document is None:
        return await read_cursor_key(documents)  # somebody was faster
    return bytes.fromhex(document.source["cursor_key"])


async def list_recent(
    documents: Documents, key: bytes, tenant: str, limit: int, cursor: str | None
) -> RunPage:
    """Runs by time of their last entry, newest first."""
    start = decode_cursor(key, tenant, cursor)
    limit = min(limit, _MOST)
    await documents.refresh(documents.address.runs)
    hits = await documents.search(documents.address.runs, recent_request(tenant, limit, start))
    shown: list[Json] = hits["hits"][:limit]
    lines = (_line(hit["_source"]) for hit in shown)
    return RunPage(
        runs=tuple(line for line in lines if line is not None),
        next_cursor=encode_cursor(key, tenant, _position(shown[-1]))
        if shown and len(hits["hits"]) > limit
        else None,
    )


def recent_request(tenant: str, limit: int, start: Position) -> Json:
    """The search for a page and one run more, which tells whether another page follows."""
    request: Json = {
        "query": {
            "bool": {
                "filter": [{"term": {"tenant": tenant}}],
                "must_not": [{"range": {"expires_at": {"lte": now_in_microseconds()}}}],
            }
        },
        "sort": [{"updated_at": "desc"}, {"key": "desc"}],
        "size": limit + 1,
        "_source": ["run_id", "summary"],
        "track_total_hits": False,
    }
    return request if start == NEWEST else {**request, "search_after": list(start)}


def _position(hit: Json) -> Position:
    updated_at, key = hit["sort"]
    return updated_at, key


def _line(source: Json) -> RunSummary | None:
    try:
        return RunSummary.model_validate_json(source["summary"])
    except ValidationError:
        logger.warning("the summary of run %r cannot be read", source["run_id"])
        return None
