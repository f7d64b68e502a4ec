"""The search in several places at once, and the retriever that makes it."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256

import anyio
import anyio.to_thread
from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.immutable import Frozen
from sifaka.calls.context import current_calls, fan_out, recorded
from sifaka.calls.failure_log import report_failure
from sifaka.calls.journal import scope
from sifaka.errors import BudgetExceeded, ConfigurationError, SifakaError, SourceError, StorageError
from sifaka.evidence.documents import ANYTHING, SearchFilters, SourceDocument, clean
from sifaka.evidence.model import Searched
from sifaka.evidence.ranking import merged
from sifaka.evidence.sources.collection import Adapter, Adapters, LeavesOut
from sifaka.record.claims import CheckOptions
from sifaka.record.thought import Document

logger = logging.getLogger(__name__)

MOST_RESULTS = 100
"""Documents that one search may be asked for."""
_AT_ONCE = 500_000
"""Characters that are compared without a thread, in about 5 ms."""
_NAMED = 10
"""Files that are named of those left out for one reason."""


class _Answer(Frozen):
    """The answer of one adapter to one query, as it is put on record."""

    documents: tuple[SourceDocument, ...] = ()
    failure: str | None = None
    notes: tuple[str, ...] = ()


async def search(
    adapters: Sequence[Adapter],
    queries: Sequence[str],
    *,
    max_results: int = 10,
    filters: SearchFilters = ANYTHING,
    seconds: float = 10.0,
) -> Searched:
    """Search all adapters for all queries, and merge the results.

    They are asked at the same time, at the places `search N M` of the journal (adapter and query);
    a second search in one run needs a scope of its own. The answer of an adapter, or its failure,
    is on record before it is used. An adapter that fails costs the others nothing.

    Args:
        adapters: Where to search.
        queries: What for, most telling first.
        max_results: Documents in the merged list at most, and from each adapter for each query.
        filters: Which documents are wanted; they are applied to whatever comes back.
        seconds: How long an adapter may take for a query; less when the run has less time left.

    Returns:
        `found`, with the adapters that failed for some query in `failures`; `no_results` when
        nothing was found that the filters admit; `search_failed` when no adapter has answered.

    Raises:
        ConfigurationError: `max_results` is not between 1 and 100.
        StorageError: An answer could not be put on record.
    """
    check_limit(max_results)
    wanted = [query for query in dict.fromkeys(map(str.strip, queries)) if query]
    if not wanted or not adapters:
        problem = "there is nothing to search for" if adapters else "there is nowhere to search"
        return Searched(status="no_results" if adapters else "search_failed", notes=(problem,))
    asked = [(adapter, query) for adapter in adapters for query in wanted]
    branches = {
        f"search {at // len(wanted)} {at % len(wanted)}": partial(
            _answer, adapter, query, max_results, filters, seconds
        )
        for at, (adapter, query) in enumerate(asked)
    }
    # No calls of a model: nothing to set aside.
    answers = await fan_out(branches, calls_each=0)
    lists = [[d for d in answer.documents if filters.admits(d)] for answer in answers]
    size = sum(len(document.text) for found in lists for document in found)
    documents = (
        merged(lists, max_results)
        if size <= _AT_ONCE
        else await anyio.to_thread.run_sync(merged, lists, max_results)
    )
    failures = _failures([adapter.name for adapter, _ in asked], answers)
    all_failed = all(answer.failure is not None for answer in answers)
    return Searched(
        status="found" if documents else "search_failed" if all_failed else "no_results",
        documents=documents,
        failures=failures,
        notes=_notes(answers, filters),
    )


def filters_of(options: CheckOptions) -> SearchFilters:
    """The filters of a check.

    Raises:
        ConfigurationError: They let nothing through.
    """
    try:
        return SearchFilters(since=options.since, until=options.until, sites=options.sites)
    except ValidationError as error:
        raise ConfigurationError(explain(error)) from error


def check_limit(max_results: int) -> None:
    """See that so many documents may be asked for.

    Raises:
        ConfigurationError: They are none, or more than 100.
    """
    if not 1 <= max_results <= MOST_RESULTS:
        raise ConfigurationError(
            f"max_results is {max_results}", f"ask for 1 to {MOST_RESULTS} documents"
        )


async def _answer(
    adapter: Adapter, query: str, limit: int, filters: SearchFilters, seconds: float
) -> _Answer:
    """The adapter's answer, on record, or the reason there is none."""
    request = {
        "place": adapter.place,
        "query": query,
        "limit": limit,
        "filters": filters.model_dump(mode="json"),
    }

    async def in_time() -> str:
        left = current_calls().ledger.seconds_left
        allowed = seconds if left is None else min(seconds, left)
        answer = _Answer(failure=f"no answer within {seconds:g} s")
        with anyio.move_on_after(allowed) as deadline:
            answer = await _answer_of_adapter(adapter, query, limit, filters)
        if deadline.cancelled_caught and allowed < seconds:
            raise BudgetExceeded("seconds")
        return answer.model_dump_json()

    try:
        told = await recorded(adapter.name, request, in_time)
    except StorageError:
        raise
    except SifakaError as error:  # not the adapter's fault, so it is not on record
        return _Answer(failure=str(error))
    return _Answer.model_validate_json(told)


async def _answer_of_adapter(
    adapter: Adapter, query: str, limit: int, filters: SearchFilters
) -> _Answer:
    name = adapter.name
    try:
        with current_calls().monitor.measure("retriever", name):
            found = await adapter.search(query, limit=limit, filters=filters)
        cleaned = [clean(document, name) for document in found[:limit]]
    except StorageError:
        raise
    # An adapter may be foreign code, and its failure must not be the end of the search.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, f"adapter:{name}", error)
        reason = str(error) if isinstance(error, SifakaError) else type(error).__name__
        return _Answer(failure=reason)
    return _Answer(
        documents=tuple(each for each in cleaned if each.text or each.title),
        notes=tuple(_left_out(name, adapter)) if isinstance(adapter, LeavesOut) else (),
    )


def _left_out(name: str, adapter: LeavesOut) -> Iterator[str]:
    """A line for each reason that files are left out."""
    by_reason: dict[str, list[str]] = {}
    for file, reason in sorted(adapter.left_out.items()):
        by_reason.setdefault(reason, []).append(file)
    for reason, names in by_reason.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{name}: left out: {', '.join(names[:_NAMED])}{more} ({reason})"


def _failures(names: Sequence[str], answers: Sequence[_Answer]) -> Mapping[str, str]:
    """The failures of adapters, by name; with their number when some queries were answered."""
    failures: dict[str, str] = {}
    for name in dict.fromkeys(names):
        mine = [answer for each, answer in zip(names, answers, strict=True) if each == name]
        reasons = [answer.failure for answer in mine if answer.failure is not None]
        if reasons:
            part = "" if len(reasons) == len(mine) else f"{len(reasons)} of {len(mine)} queries: "
            failures[name] = part + "; ".join(dict.fromkeys(reasons))
    return failures


def _notes(answers: Sequence[_Answer], filters: SearchFilters) -> tuple[str, ...]:
    refused = {d.key: d for a in answers for d in a.documents if not filters.admits(d)}
    undated = 0
    if filters.asks_for_dates:
        undated = sum(document.published is None for document in refused.values())
    counted = (
        (undated, "without a date"),
        (len(refused) - undated, "outside the time or the sites asked for"),
    )
    return (
        *(
            f"{number} document{'' if number == 1 else 's'} {what} left out"
            for number, what in counted
            if number
        ),
        *dict.fromkeys(note for answer in answers for note in answer.notes),
    )


class EvidenceRetriever:
    """A retriever that searches adapters: merged, deduplicated, on record, with deadlines.

    Args:
        adapters: Where to search.
        names: Of those the ones to use; none means all.
        filters: Which documents are wanted.

    Raises:
        ConfigurationError: There is no adapter at all, or none of a name.
    """

    def __init__(
        self,
        adapters: Adapters,
        *,
        names: Sequence[str] = (),
        filters: SearchFilters = ANYTHING,
    ) -> None:
        self.adapters = adapters
        self.filters = filters
        self._chosen = adapters.chosen(names)

    async def retrieve(self, query: str, limit: int) -> Sequence[Document]:
        """Search all adapters, best documents first; one that fails costs the others nothing.

        Within a run the answers go on record: who asks the same again gets the same.

        Raises:
            SourceError: None of them has answered; one line says why for each.
            StorageError: An answer could not be put on record.
        """
        if limit < 1 or not query.strip():
            return ()
        with scope(f"retrieve {self._digest(query)}"):
            found = await search(
                self._chosen,
                [query],
                max_results=min(limit, MOST_RESULTS),
                filters=self.filters,
            )
        if found.status == "search_failed":
            raise SourceError(
                f"no source could be searched: {'; '.join(found.degraded)}",
                "`sifaka doctor` looks at each of them",
                code="connection",
            )
        return tuple(document.as_document() for document in found.documents)

    def _digest(self, query: str) -> str:
        """A digest that tells this question from the others of a run."""
        places = [adapter.place for adapter in self._chosen]
        asked = json.dumps([query, places, self.filters.model_dump(mode="json")])
        return sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16]
