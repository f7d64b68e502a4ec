"""Runs in Milvus, through the tools of zilliztech's `mcp-server-milvus`."""

from sifaka.storage.tool_backed.caller import ToolCaller
from sifaka.storage.tool_backed.milvus_log import MilvusLog
from sifaka.storage.tool_backed.milvus_rows import MOST_ROWS, MilvusRows
from sifaka.storage.tool_backed.shared import Shared
from sifaka.storage.tool_backed.store import LogStorage


class MilvusToolStorage(LogStorage):
    """A `ThoughtStore` in the Milvus that a `mcp-server-milvus` (0.1) is connected to.

    The tools insert, query and, in releases that have the fix of its issue 78, delete; they do not
    update and do not put what they insert into an order. So rows have keys of their own, a position
    that their writer gives them, and the newest counts. Between two processes that append to the
    same run in the same moment either may win, also over an append that has returned: keep a run to
    one process. Within one process nothing is lost.

    What is deleted is hidden at once by a row that says so, then removed; where the tool for that
    fails, `degraded` says that it is hidden only. The tools cannot make the function that full text
    search needs, so a search reads through the latest runs, as in Redis.

    Args:
        caller: The session with that server; it is closed with the store.
        tenant: Whose runs are seen.
        prefix: What the name of the collection begins with: letters, digits and underscores.
        name: Its place, as `health` and tiers call it.
        most_rows: How many rows that Milvus returns to one query.
    """

    def __init__(
        self,
        caller: ToolCaller,
        *,
        tenant: str = "default",
        prefix: str = "sifaka",
        name: str = "milvus+mcp:",
        most_rows: int = MOST_ROWS,
    ) -> None:
        log = MilvusLog(MilvusRows(caller, f"{prefix}_records", most_rows))
        super().__init__(Shared(caller, log, name), tenant=tenant)
