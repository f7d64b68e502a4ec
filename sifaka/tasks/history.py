"""Looking up past runs."""

from dataclasses import dataclass, replace

from sifaka.errors import ConfigurationError
from sifaka.record.run import Run, RunSummary
from sifaka.record.thought import Thought
from sifaka.storage.protocol import Hit, ThoughtStore
from sifaka.storage.query import parse_query

_LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A page of a run's versions, of the versions that match a query, or of the recent runs."""

    run: Run | None = None
    """The run whose versions these are."""
    thoughts: tuple[Thought, ...] | None = None
    """Its versions, oldest first."""
    runs: tuple[RunSummary, ...] | None = None
    """The recent runs, newest first."""
    hits: tuple[Hit, ...] | None = None
    """The versions that match, best first."""
    search: str | None = None
    """The kind of search that was made, and why not by meaning if it was not."""
    degraded: tuple[str, ...] = ()
    """The steps that failed or fell back, one line each."""
    next_cursor: str | None = None
    """The beginning of the next page; None on the last one."""


async def look_up(
    store: ThoughtStore,
    *,
    run_id: str = "",
    query: str = "",
    limit: int = 10,
    cursor: str = "",
    embeds: bool = False,
) -> History:
    """A run's versions, the versions that match a query, or the recent runs.

    Args:
        store: The store.
        run_id: The run whose versions to give.
        query: Words and filters, in the language of `parse_query`.
        limit: The most to give.
        cursor: The beginning of the page, from the page before.
        embeds: True when an embedding model is configured.

    Raises:
        ConfigurationError: The arguments exclude each other, or one of them is wrong.
        ThoughtNotFound: There is no such run.
        StorageError: The store failed.
    """
    if run_id and query:
        raise ConfigurationError("run_id and query exclude each other", "give one of them")
    if query and cursor:
        raise ConfigurationError("a search has one page", "raise the limit instead of a cursor")
    if run_id:
        found = await _versions(store, run_id, limit, cursor)
    elif query:
        words, only = parse_query(query)
        matching = await store.search(words, limit=limit, only=only)
        search = _kind(matching.search, embeds=embeds)
        found = History(hits=tuple(matching.hits), search=search)
    else:
        page = await store.recent(limit=limit, cursor=cursor or None)
        found = History(runs=tuple(page.runs), next_cursor=page.next_cursor)
    return replace(found, degraded=store.degraded)


async def _versions(store: ThoughtStore, run_id: str, limit: int, cursor: str) -> History:
    """A page of a run's versions; the cursor is the number of the next one."""
    if cursor and not (cursor.isdecimal() and len(cursor) < _LONGEST_NUMBER):
        raise ConfigurationError(
            f"unknown cursor {cursor[:20]!r}", "pass next_cursor as it was given"
        )
    run = await store.load(run_id)
    first = int(cursor or 0)
    page = run.thoughts[first : first + limit]
    following = first + len(page)
    return History(
        run=run,
        thoughts=page,
        next_cursor=str(following) if following < len(run.thoughts) else None,
    )


def _kind(search: str, *, embeds: bool) -> str:
    if search.startswith(("hybrid", "dense")) or "semantic:" in search:
        return search
    why = "this store keeps no vectors" if embeds else "no embedding model configured"
    return f"{search}, semantic: disabled ({why})"
