"""The search in several places at once, and the order of what it finds, without copies."""

import json
import logging
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import islice
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import anyio
from anyio import to_thread
from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.immutable import Frozen
from sifaka.calls.context import current_calls, fan_out, recorded, scope
from sifaka.calls.failure_log import report_failure
from sifaka.errors import BudgetExceeded, ConfigurationError, SifakaError, SourceError, StorageError
from sifaka.evidence.documents import ANYTHING, SearchFilters, SourceDocument, clean, spread
from sifaka.evidence.model import Searched
from sifaka.evidence.sources.collection import Adapter, Adapters, LeavesOut
from sifaka.record.claims import CheckOptions
from sifaka.record.thought import Document
from sifaka.retrievers.in_memory import searched_fields
from sifaka.storage.bm25 import best_first, query_words, rank

logger = logging.getLogger(__name__)

MOST_RESULTS = 100
"""Documents that one search may be asked for."""
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
    branches = {
        f"search {n} {m}": partial(_ask_adapter, adapter, query, max_results, filters, seconds)
        for n, adapter in enumerate(adapters)
        for m, query in enumerate(wanted)
    }
    # No calls of a model: nothing to set aside.
    answers = await fan_out(branches, calls_each=0)
    lists = [[d for d in answer.documents if filters.admits(d)] for answer in answers]
    documents = await to_thread.run_sync(merged, lists, max_results)
    unfound = "no_results" if any(each.failure is None for each in answers) else "search_failed"
    return Searched(
        status="found" if documents else unfound,
        documents=documents,
        failures=_name_failures([adapter.name for adapter in adapters for _ in wanted], answers),
        notes=_collect_notes(answers, filters),
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


async def _ask_adapter(
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
        with current_calls().ledger.within_time() as budget, anyio.move_on_after(seconds):
            return (await _search_adapter(adapter, query, limit, filters)).model_dump_json()
        if budget.cancelled_caught:
            raise BudgetExceeded("seconds")
        return _Answer(failure=f"no answer within {seconds:g} s").model_dump_json()

    try:
        return _Answer.model_validate_json(await recorded(adapter.name, request, in_time))
    except StorageError:
        raise
    except SifakaError as error:  # not the adapter's fault, so it is not on record
        return _Answer(failure=str(error))


async def _search_adapter(
    adapter: Adapter, query: str, limit: int, filters: SearchFilters
) -> _Answer:
    name = adapter.name
    try:
        with current_calls().monitor.measure("retriever", name):
            documents = await adapter.search(query, limit=limit, filters=filters)
        cleaned = [clean(document, name) for document in documents[:limit]]
    except StorageError:
        raise
    # An adapter may be foreign code, and its failure must not be the end of the search.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, f"adapter:{name}", error)
        return _Answer(
            failure=str(error) if isinstance(error, SifakaError) else type(error).__name__
        )
    return _Answer(
        documents=tuple(each for each in cleaned if each.text or each.title),
        notes=tuple(_list_left_out(name, adapter)) if isinstance(adapter, LeavesOut) else (),
    )


def _list_left_out(name: str, adapter: LeavesOut) -> Iterator[str]:
    """A line for each reason that files are left out."""
    by_reason: dict[str, list[str]] = {}
    for file, reason in sorted(adapter.left_out.items()):
        by_reason.setdefault(reason, []).append(file)
    for reason, names in by_reason.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{name}: left out: {', '.join(names[:_NAMED])}{more} ({reason})"


def _name_failures(names: Sequence[str], answers: Sequence[_Answer]) -> Mapping[str, str]:
    """The failures of adapters, by name; with their number when some queries were answered."""
    failures: dict[str, str] = {}
    for name in dict.fromkeys(names):
        mine = [answer for each, answer in zip(names, answers, strict=True) if each == name]
        reasons = [answer.failure for answer in mine if answer.failure is not None]
        if reasons:
            part = "" if len(reasons) == len(mine) else f"{len(reasons)} of {len(mine)} queries: "
            failures[name] = part + "; ".join(dict.fromkeys(reasons))
    return failures


def _collect_notes(answers: Sequence[_Answer], filters: SearchFilters) -> tuple[str, ...]:
    refused = {d.key: d for a in answers for d in a.documents if not filters.admits(d)}
    undated = sum(filters.asks_for_dates and d.published is None for d in refused.values())
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
        # What tells this question from the others of a run.
        places = [adapter.place for adapter in self._chosen]
        request = json.dumps([query, places, self.filters.model_dump(mode="json")])
        digest = sha256(request.encode("utf-8", "surrogatepass")).hexdigest()
        with scope(f"retrieve {digest[:16]}"):
            result = await search(
                self._chosen,
                [query],
                max_results=min(limit, MOST_RESULTS),
                filters=self.filters,
            )
        if result.status == "search_failed":
            raise SourceError(
                f"no source could be searched: {'; '.join(result.degraded)}",
                "`sifaka doctor` looks at each of them",
                error_code="connection",
            )
        return tuple(document.as_document() for document in result.documents)


def scores_of(query: str, documents: Iterable[SourceDocument]) -> list[float]:
    """The BM25 score of each document for a query; the title counts half.

    Words are compared without case and accents, and are not stemmed. It reads every word: on
    documents of many pages, run it in a thread.

    Returns:
        Scores that are comparable within this answer only, 0 where nothing matches.
    """
    return rank(query_words(query), [searched_fields(each.text, each.title) for each in documents])


def rank_documents(query: str, documents: Iterable[SourceDocument]) -> tuple[SourceDocument, ...]:
    """All documents in the order of their `scores_of` a query, and with them.

    What matches equally well, or not at all, keeps its order.
    """
    items = tuple(documents)
    scores = scores_of(query, items)
    return tuple(items[at].model_copy(update={"score": scores[at]}) for at in best_first(scores))


_TRACKING = re.compile(
    r"utm_\w+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|mc_[ce]id|igshid|_hs(?:enc|mi)|mkt_tok"
)
"""Parameters that say where a reader comes from, and nothing about what is read."""
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_DOI_HOSTS = frozenset({"doi.org", "dx.doi.org"})
_GENERIC = frozenset(
    {
        "404 not found", "annual report", "article", "blog post", "contact us", "document",
        "error", "executive summary", "home page", "homepage", "introduction", "login page",
        "main page", "new document", "new page", "no title", "not found", "page not found",
        "references", "search results", "sign in", "summary", "table of contents",
        "untitled document", "untitled page", "welcome page",
    }
)  # fmt: skip
"""Titles that any number of documents have."""
_LEAST_TITLE = 8
"""Letters and digits of a title that tells documents apart."""
_HEAD = 200
"""Characters that two texts have in common at their beginning before all are compared."""


def identities(document: SourceDocument) -> frozenset[str]:
    """The identities that all copies of a document share: its URL and its DOI, normalised.

    The DOI is taken from the URL too where that is one of doi.org. Empty when it has neither.
    """
    doi = normal_doi(document.doi) or normal_doi(document.url)
    url = normal_url(document.url)
    return frozenset(each for each in (doi and f"doi:{doi}", url and f"url:{url}") if each)


def normal_url(url: str) -> str:
    """A URL without what does not change the page; empty when it has no host.

    Scheme, `www.`, the host's case, default ports, the fragment, a slash at the end, the order of
    parameters and those of tracking do not count.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    if not host:
        return ""
    address = host.removeprefix("www.") + ("" if port in {None, 80, 443} else f":{port}")
    params = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _TRACKING.fullmatch(name.lower())
    )
    address += unquote(parts.path).rstrip("/")
    return f"{address}?{urlencode(params)}" if params else address


def normal_doi(doi: str) -> str:
    """A DOI in lower case without `doi:` or the resolver's address; empty when it is none."""
    text = unquote(doi.strip())
    parts = re.match(r"(?:https?://)?([^/]+)/(.*)", text)
    if parts is not None and parts[1].lower() in _DOI_HOSTS:
        text = re.sub(r"[?#].*", "", parts[2])
    match = _DOI.fullmatch(re.sub(r"^doi:\s*", "", text, flags=re.IGNORECASE))
    return match.group().lower().rstrip("/.") if match else ""


def normal_title(title: str) -> str:
    """A title as words in lower case; empty when it tells documents apart from no others."""
    words = " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", title).casefold()))
    return "" if words in _GENERIC or len(words.replace(" ", "")) < _LEAST_TITLE else words


def groups(documents: Iterable[SourceDocument]) -> tuple[tuple[int, ...], ...]:
    """The places of the documents that are the same, in the order of the first of each.

    By URL or DOI, which are followed from copy to copy, then by their words; two that have DOIs of
    their own are never the same by words. Of one title they are the same only where one is the
    other's beginning. Passages that an adapter returns of one page are not the same.
    """
    items = tuple(documents)
    group_of = [{at} for at in range(len(items))]
    dois = [normal_doi(each.doi) or normal_doi(each.url) for each in items]
    words = _words_of(items)
    alike: defaultdict[str, list[int]] = defaultdict(list)
    for at, document in enumerate(items):
        for name in sorted(identities(document)):
            for other in alike[name]:
                if _is_one_page(items[other], document, words[other] == words[at]):
                    _join_groups(group_of, other, at)
            alike[name].append(at)
    for at, document in enumerate(items):
        title = normal_title(document.title)
        names = (words[at] and f"words:{words[at]}", title and f"title:{title}")
        for name in filter(None, names):
            for other in alike[name]:
                both = {dois[each] for each in group_of[other] | group_of[at]}
                if len(both - {""}) < 2 and _is_cut(words[other], words[at]):
                    _join_groups(group_of, other, at)
            # One stands for all that have the same words.
            if not (name.startswith("words:") and alike[name]):
                alike[name].append(at)
    return tuple(dict.fromkeys(tuple(sorted(group)) for group in group_of))


def _words_of(documents: Sequence[SourceDocument]) -> list[str]:
    """The words of each document, as far as they can be those of another one."""
    heads = [_fold_words(each.text[: 2 * _HEAD])[:_HEAD] for each in documents]
    titles = [normal_title(each.title) for each in documents]
    count = Counter((*heads, *(f"\0{title}" for title in titles if title)))
    return [
        _fold_words(document.text) if count[head] > 1 or count[f"\0{title}"] > 1 else head
        for document, head, title in zip(documents, heads, titles, strict=True)
    ]


def _is_one_page(one: SourceDocument, other: SourceDocument, same: bool) -> bool:
    """True unless they are two passages that one adapter has of a page."""
    return same or one.adapter != other.adapter or one.id == other.id or "" in {one.id, other.id}


def _is_cut(one: str, other: str) -> bool:
    """True when one text is the beginning of the other, or all of it."""
    return one.startswith(other) or other.startswith(one)


def _fold_words(text: str) -> str:
    return " ".join(text.casefold().split())


def _join_groups(group_of: list[set[int]], one: int, other: int) -> None:
    both = group_of[one] | group_of[other]
    for member in both:
        group_of[member] = both


_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def merged(lists: Sequence[Sequence[SourceDocument]], most: int) -> tuple[SourceDocument, ...]:
    """The documents of all lists, each once, best first, by reciprocal rank fusion.

    Scores of different sources cannot be compared, their ranks can: a document has the sum of
    1 / (60 + rank) over the lists that hold it, as its score. Of the copies of a document one is
    kept: with an address rather than without, then with a date, then the one with more text. It
    names the places of the others. Of a file no more than three parts come before other files.
    """
    ranked = [
        (number, rank, document)
        for number, documents in enumerate(lists)
        for rank, document in enumerate(documents, 1)
    ]
    fused: list[SourceDocument] = []
    for places in groups(document for _, _, document in ranked):
        copies = [ranked[at][2] for at in places]
        # Of the ranks in one list the best one, which comes first there, is put in last.
        best = {number: rank for number, rank, _ in (ranked[at] for at in reversed(places))}
        # The first of several that are as good: `max` keeps it.
        copy = max(
            copies, key=lambda d: (bool(d.url or d.doi), d.published is not None, len(d.text))
        )
        score = sum(1 / (_K + best[number]) for number in sorted(best))
        fused.append(copy.model_copy(update={"score": score, "also": _list_places(copy, copies)}))
    fused.sort(key=lambda document: -(document.score or 0.0))
    return tuple(islice(spread(fused), most))


def _list_places(copy: SourceDocument, others: Iterable[SourceDocument]) -> tuple[str, ...]:
    """The places of copies that are not the one that is kept."""
    own = identities(copy)
    places = (each.place for each in others if not own & identities(each))
    return tuple(dict.fromkeys(each for each in places if each not in {"", copy.place}))
