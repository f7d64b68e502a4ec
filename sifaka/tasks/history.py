"""Looking up past runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sifaka.errors import ConfigurationError, ThoughtNotFound
from sifaka.record.run import Run, RunSummary
from sifaka.record.thought import Thought
from sifaka.storage.protocol import Filters, Hit, ThoughtStore
from sifaka.storage.query import parse_query

_LONGEST_NUMBER = 9
_PAGE, _PAGES = 100, 10
"""Runs that are looked at at once for a query of filters alone, and how often."""
_FILTERS = f"filters, of the latest {_PAGE * _PAGES} runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A page of a run's versions, of the versions that match a query, or of the recent runs."""

    run: Run | None = None
    """The run whose versions these are."""
    thoughts: tuple[Thought, ...] | None = None
    """Its versions, oldest first."""
    runs: tuple[RunSummary, ...] | None = None
    """The recent runs, or those that a query of filters alone lets through, newest first."""
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
        result = await _load_versions(store, run_id, limit, cursor)
    elif query:
        words, only = parse_query(query)
        if not words:
            return replace(await _filter_runs(store, only, limit), degraded=store.degraded)
        matching = await store.search(words, limit=limit, only=only)
        result = History(hits=tuple(matching.hits), search=_explain(matching.search, embeds=embeds))
    else:
        page = await store.recent(limit=limit, cursor=cursor or None)
        result = History(runs=tuple(page.runs), next_cursor=page.next_cursor)
    return replace(result, degraded=store.degraded)


async def _filter_runs(store: ThoughtStore, only: Filters, limit: int) -> History:
    """The latest runs that filters let through, each by its last change."""
    runs: list[RunSummary] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await store.recent(limit=_PAGE, cursor=cursor)
        for summary in page.runs:
            if only.admit_time(summary.updated_at) and only.admit_run(
                passed=summary.passed, tags=await _load_tags(store, summary) if only.tags else ()
            ):
                runs.append(summary)
            if len(runs) == limit:
                return History(runs=tuple(runs), search=_FILTERS)
        cursor = page.next_cursor
        if cursor is None:
            break
    return History(runs=tuple(runs), search=_FILTERS)


async def _load_tags(store: ThoughtStore, summary: RunSummary) -> Sequence[str]:
    try:
        return (await store.load(summary.run_id)).tags
    except ThoughtNotFound:
        return ()  # forgotten meanwhile


def number_of(cursor: str) -> int:
    """The number of things on the pages before, which is the cursor; 0 for "".

    Raises:
        ConfigurationError: It is no such number.
    """
    if cursor and not (cursor.isdecimal() and len(cursor) < _LONGEST_NUMBER):
        raise ConfigurationError(
            f"unknown cursor {cursor[:20]!r}", "pass next_cursor as it was given"
        )
    return int(cursor or 0)


async def _load_versions(store: ThoughtStore, run_id: str, limit: int, cursor: str) -> History:
    """A page of a run's versions; the cursor is the number of the next one."""
    first = number_of(cursor)
    run = await store.load(run_id)
    following = first + limit
    return History(
        run=run,
        thoughts=run.thoughts[first:following],
        next_cursor=str(following) if following < len(run.thoughts) else None,
    )


def _explain(search: str, *, embeds: bool) -> str:
    if search.startswith(("hybrid", "dense")) or "semantic:" in search:
        return search
    why = "this store keeps no vectors" if embeds else "no embedding model configured"
    return f"{search}, semantic: disabled ({why})"
