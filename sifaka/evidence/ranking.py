"""The order of documents, and the copies among them, without a model."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from sifaka.evidence.documents import SourceDocument, spread
from sifaka.retrievers.in_memory import searched_fields
from sifaka.storage.bm25 import query_words, rank


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
    given = tuple(documents)
    scores = scores_of(query, given)
    order = sorted(range(len(given)), key=lambda at: -scores[at])
    return tuple(given[at].model_copy(update={"score": scores[at]}) for at in order)


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
    place = host.removeprefix("www.") + ("" if port in {None, 80, 443} else f":{port}")
    asked = sorted(
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _TRACKING.fullmatch(name.lower())
    )
    path = unquote(parts.path).rstrip("/")
    return f"{place}{path}" + (f"?{urlencode(asked)}" if asked else "")


def normal_doi(told: str) -> str:
    """A DOI in lower case without `doi:` or the resolver's address; empty when it is none."""
    text = unquote(told.strip())
    parts = re.match(r"(?:https?://)?([^/]+)/(.*)", text)
    if parts is not None and parts[1].lower() in _DOI_HOSTS:
        text = re.sub(r"[?#].*", "", parts[2])
    found = _DOI.fullmatch(re.sub(r"^doi:\s*", "", text, flags=re.IGNORECASE))
    return found.group().lower().rstrip("/.") if found else ""


def normal_title(title: str) -> str:
    """A title as words in lower case; empty when it tells documents apart from no others."""
    plain = unicodedata.normalize("NFKC", title).casefold()
    words = " ".join(re.findall(r"[^\W_]+", plain))
    return "" if words in _GENERIC or len(words.replace(" ", "")) < _LEAST_TITLE else words


def groups(documents: Iterable[SourceDocument]) -> tuple[tuple[int, ...], ...]:
    """The places of the documents that are the same, in the order of the first of each.

    By URL or DOI, which are followed from copy to copy, then by their words; two that have DOIs of
    their own are never the same by words. Of one title they are the same only where one is the
    other's beginning. Passages that an adapter returns of one page are not the same.
    """
    given = tuple(documents)
    group_of = list(range(len(given)))
    dois = [normal_doi(each.doi) or normal_doi(each.url) for each in given]

    def dois_of(*members: int) -> set[str]:
        both = {group_of[at] for at in members}
        return {doi for doi, group in zip(dois, group_of, strict=True) if doi and group in both}

    alike: defaultdict[str, list[int]] = defaultdict(list)
    for at, document in enumerate(given):
        title, named = normal_title(document.title), sorted(identities(document))
        keys = [*named, f"words:{_plain(document.text[: 2 * _HEAD])[:_HEAD]}", f"title:{title}"]
        for key in filter(lambda key: key not in {"words:", "title:"}, keys):
            for other in alike[key]:
                if group_of[other] == group_of[at]:
                    continue
                if key in named:
                    same = _is_one_page(given[other], document)
                else:
                    same = len(dois_of(other, at)) < 2 and _is_copy(given[other], document)
                if same:
                    _join(group_of, other, at)
            alike[key].append(at)
    found: dict[int, list[int]] = {}
    for at, group in enumerate(group_of):
        found.setdefault(group, []).append(at)
    return tuple(map(tuple, found.values()))


def _is_one_page(one: SourceDocument, other: SourceDocument) -> bool:
    """True unless they are two passages that one adapter has of a page."""
    passages = one.adapter == other.adapter and one.id and other.id and one.id != other.id
    return not passages or _plain(one.text) == _plain(other.text)


def _is_copy(one: SourceDocument, other: SourceDocument) -> bool:
    shorter, longer = sorted((_plain(one.text), _plain(other.text)), key=len)
    if shorter == longer:
        return bool(shorter) or normal_title(one.title) == normal_title(other.title) != ""
    titles = {normal_title(each.title) for each in (one, other)}
    return len(titles) == 1 and "" not in titles and longer.startswith(shorter)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _join(group_of: list[int], one: int, other: int) -> None:
    keep, drop = sorted((group_of[one], group_of[other]))
    group_of[:] = [keep if group == drop else group for group in group_of]


_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def merged(lists: Sequence[Sequence[SourceDocument]], most: int) -> tuple[SourceDocument, ...]:
    """The documents of all lists, each once, best first, by reciprocal rank fusion.

    Scores of different sources cannot be compared, their ranks can: a document has the sum of
    1 / (60 + rank) over the lists that hold it, as its score. Of the copies of a document one is
    kept: with an address rather than without, then with a date, then the one with more text. It
    names the places of the others. Of a file no more than three parts come before other files.
    """
    found = [
        (number, rank, document)
        for number, documents in enumerate(lists)
        for rank, document in enumerate(documents, 1)
    ]
    fused: list[SourceDocument] = []
    for places in groups(document for _, _, document in found):
        best: defaultdict[int, int] = defaultdict(lambda: len(found))
        for number, position, _ in (found[at] for at in places):
            best[number] = min(best[number], position)
        # The first of several that are as good: `max` keeps it.
        copy = max((found[at][2] for at in places), key=_worth)
        score = sum(1 / (_K + position) for position in best.values())
        others = (found[at][2] for at in places)
        fused.append(copy.model_copy(update={"score": score, "also": _elsewhere(copy, others)}))
    fused.sort(key=lambda document: -(document.score or 0.0))
    return tuple(islice(spread(fused), most))


def _elsewhere(copy: SourceDocument, others: Iterable[SourceDocument]) -> tuple[str, ...]:
    """The places of copies that are not the one that is kept."""
    own = identities(copy)
    places = (each.place for each in others if not own & identities(each))
    return tuple(dict.fromkeys(each for each in places if each and each != copy.place))


def _worth(document: SourceDocument) -> tuple[bool, bool, int]:
    return bool(document.url or document.doi), document.published is not None, len(document.text)
