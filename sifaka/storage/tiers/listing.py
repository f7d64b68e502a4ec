"""The list of recent runs from what this process knows, while no lasting tier can be asked."""

import secrets
from collections.abc import AsyncGenerator, Sequence

from sifaka.run import RunSummary
from sifaka.storage.cursor import Position, decode_cursor, encode_cursor
from sifaka.storage.protocol import RunPage, ThoughtStore
from sifaka.storage.timestamps import to_microseconds

_AT_ONCE = 100


class Listing:
    """Pages of lines that are at hand; its cursors are valid in this process."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)

    async def cached(self, cache: ThoughtStore) -> AsyncGenerator[RunSummary]:
        """Every run in a cache."""
        cursor: str | None = None
        while True:
            page = await cache.recent(limit=_AT_ONCE, cursor=cursor)
            for line in page.runs:
                yield line
            cursor = page.next_cursor
            if cursor is None:
                return

    def page(
        self, tenant: str, lines: Sequence[RunSummary], *, limit: int, cursor: str | None
    ) -> RunPage:
        """One page, newest first; of several lines of a run the last one counts.

        Raises:
            ConfigurationError: The cursor is not one of this list.
        """
        start = decode_cursor(self._key, tenant, cursor)
        latest = {line.run_id: line for line in lines}.values()
        behind = sorted((line for line in latest if _at(line) < start), key=_at, reverse=True)
        page = tuple(behind[:limit])
        more = page and len(behind) > limit
        return RunPage(
            runs=page,
            next_cursor=encode_cursor(self._key, tenant, _at(page[-1])) if more else None,
        )


def _at(line: RunSummary) -> Position:
    return to_microseconds(line.updated_at), line.run_id
