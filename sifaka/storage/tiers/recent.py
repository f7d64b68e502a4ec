"""The list of recent runs from what this process knows, while no lasting tier can be asked."""

import secrets
from collections.abc import Sequence

from sifaka.record.run import RunSummary
from sifaka.storage.cursor import decode_cursor, encode_cursor, position
from sifaka.storage.protocol import RunPage


class Listing:
    """Pages of lines that are at hand; its cursors are valid in this process."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)

    def page(
        self, tenant: str, lines: Sequence[RunSummary], *, limit: int, cursor: str | None
    ) -> RunPage:
        """One page, newest first; of several lines of a run the last one counts.

        Raises:
            ConfigurationError: The cursor is not one of this list.
        """
        start = decode_cursor(self._key, tenant, cursor)
        latest = {line.run_id: line for line in lines}.values()
        behind = sorted(
            (line for line in latest if position(line) < start), key=position, reverse=True
        )
        page = tuple(behind[:limit])
        more = page and len(behind) > limit
        return RunPage(
            runs=page,
            next_cursor=encode_cursor(self._key, tenant, position(page[-1])) if more else None,
        )
