"""BM25 over texts that are at hand anyway, and over the runs of logs without an index.

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009). Its terms are
those of `sifaka.text.search_terms`, by which every store finds texts: stems, without case and
diacritics.
"""

from array import array
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import partial
from itertools import chain, islice
from math import log

from anyio import to_thread

from sifaka.calls.context import fan_out
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.log import every_run, load_if_readable
from sifaka.storage.protocol import Filters, Hit, Hits, ThoughtStore
from sifaka.text.prose import Span
from sifaka.text.search_terms import (
    language_of,
    parts,
    places,
    query_terms,
    term_counts,
    word_spans,
)

_K1 = 1.2
_B = 0.75
_SNIPPET_WORDS = 16
_SNIPPET_CHARS = 300
MAX_WORDS = 64
"""Of a longer query the first words decide: each costs a pass over its matches."""


def query_words(query: str) -> tuple[str, ...]:
    """The different words of a query as they are written there, the first `MAX_WORDS`."""
    different: dict[str, str] = {}
    for start, end in word_spans(query):
        different[query[start:end].casefold()] = query[start:end]
        if len(different) > MAX_WORDS:
            break
    return tuple(different.values())[:MAX_WORDS]


def rank(words: Sequence[str], texts: Sequence[Sequence[tuple[str, float]]]) -> list[float]:
    """The score of each text for any of the words; 0 where none occurs.

    Args:
        words: From `query_words`.
        texts: Each text as its fields with their weights.
    """
    return WordIndex(texts, words).rank(words)


def best_first(scores: Sequence[float]) -> list[int]:
    """The places of scores, that of the highest first; what is equal keeps its order."""
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True)


class WordIndex:
    """Texts whose words were counted once, for many searches.

    Args:
        texts: Each text as its fields with their weights.
        words: The words to count; None for all.
    """

    def __init__(
        self,
        texts: Iterable[Sequence[tuple[str, float]]],
        words: Sequence[str] | None = None,
    ) -> None:
        wanted = None if words is None else frozenset[str]().union(*query_terms(words))
        self._lengths: list[int] = []
        self._holders: dict[str, tuple[array[int], array[float]]] = {}
        """By each term, the numbers of the texts that have it, and how often, as it counts."""
        for number, fields in enumerate(texts):
            counts: dict[str, float] = {}
            length = 0
            language = language_of(*(text for text, _ in fields))
            for text, weight in fields:
                terms = term_counts(text, language)
                length += terms.total()
                for term, count in terms.items():
                    if wanted is None or term in wanted:
                        counts[term] = counts.get(term, 0.0) + count * weight
            self._lengths.append(length)
            for term, count in counts.items():
                numbers, frequencies = self._holders.setdefault(term, (array("I"), array("d")))
                numbers.append(number)
                frequencies.append(count)

    def rank(self, words: Sequence[str]) -> list[float]:
        """The score of each text for any of the words; 0 where none occurs."""
        scores = [0.0] * len(self._lengths)
        average = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0
        for forms in query_terms(words):
            matches: dict[int, float] = {}
            for form in forms:
                # A text has a word in the forms of its own language, which are counted once.
                numbers, frequencies = self._holders.get(form, ((), ()))
                for number, count in zip(numbers, frequencies, strict=True):
                    matches[number] = max(matches.get(number, 0.0), count)
            # The `1 +` keeps the weight of a word that most texts contain above zero.
            weight = log(1 + (len(scores) - len(matches) + 0.5) / (len(matches) + 0.5))
            for number, count in matches.items():
                length = _K1 * (1 - _B + _B * (self._lengths[number] / average))
                scores[number] += weight * (count * (_K1 + 1) / (count + length))
        return scores


def snippet(words: Sequence[str], fields: Sequence[str]) -> str:
    """The surroundings of the first match, matches between `**`; empty without a match."""
    wanted = frozenset[str]().union(*query_terms(words))
    language = language_of(*fields) if wanted else ""
    for text in fields:
        spans = word_spans(text)
        before: deque[Span] = deque(maxlen=_SNIPPET_WORDS // 4)
        begins = None
        for span in spans:
            begins = span[0] if begins is None else begins
            first = next(places(text, span, wanted, language), None)
            if first is None:
                before.extend(parts(text, span))
                continue
            before.extend(part for part in parts(text, span) if part[1] <= first[0])
            rest = (part for part in parts(text, span) if part[1] > first[0])
            further = chain(rest, chain.from_iterable(parts(text, each) for each in spans))
            window = [*before, *islice(further, _SNIPPET_WORDS - len(before))]
            begin, end = window[0][0], window[-1][1]
            cut = "…" if begin > begins else ""
            if next(further, None):
                return shorten(f"{cut}{_mark_matches(text[begin:end], wanted, language)}…")
            return shorten(cut + _mark_matches(text[begin:], wanted, language))
    return ""


def _mark_matches(window: str, wanted: frozenset[str], language: str) -> str:
    pieces: list[str] = []
    at = 0
    for span in word_spans(window):
        for start, stop in places(window, span, wanted, language):
            pieces += [window[at:start], "**", window[start:stop], "**"]
            at = stop
    return "".join((*pieces, window[at:]))


def shorten(snippet: str) -> str:
    """A snippet in one line of bounded length, whatever the length of its words."""
    line = " ".join(snippet.split())
    return line if len(line) <= _SNIPPET_CHARS else line[: _SNIPPET_CHARS - 1] + "…"


async def scan_log(
    log: ThoughtStore, query: str, *, limit: int, only: Filters, latest: int | None
) -> Hits:
    """The versions in a log, or in its latest runs, that share words with the query.

    Runs that cannot be read are left out and logged; see `best_hits`.
    """
    if not query_words(query):
        return Hits(hits=(), search="bm25")
    wanted: dict[str, Callable[[], Awaitable[Run | None]]] = {}
    seen = 0
    more = ""
    async with aclosing(every_run(log)) as lines:
        async for line in lines:
            if seen == latest:
                more = f" (the latest {latest} runs)"
                break
            seen += 1
            # It only saves reading a run for nothing: its versions are looked at once it is read.
            may_hold = only.since is None or line.updated_at >= only.since
            if may_hold and only.admit_run(passed=line.passed, tags=only.tags):
                wanted[line.run_id] = partial(load_if_readable, log, line.run_id)
    loaded = await fan_out(wanted, calls_each=0, parallel=16)
    runs = [run for run in loaded if run is not None]
    # In a thread: reading through many long texts takes a while.
    hits = await to_thread.run_sync(lambda: search_runs(runs, query, limit=limit, only=only))
    return hits.model_copy(update={"search": hits.search + more})


def search_runs(runs: Iterable[Run], query: str, *, limit: int, only: Filters) -> Hits:
    """The versions that share words with the query, by BM25; see `best_hits`."""
    words = query_words(query)
    versions = [
        (run.run_id, run.prompt, thought)
        for run in runs
        if words and only.admit_run(passed=run.passed, tags=run.tags)
        for thought in run.thoughts
        if only.admit_time(thought.created_at)
    ]
    return Hits(hits=best_hits(words, versions, limit), search="bm25")


def best_hits(
    words: Sequence[str], versions: Sequence[tuple[str, str, Thought]], limit: int
) -> tuple[Hit, ...]:
    """The versions that have any of the words, best first; the task counts half.

    Words are compared without case and accents, and are not stemmed.

    Args:
        words: From `query_words`.
        versions: Each with the id of its run and its task before it.
        limit: The most hits.
    """
    scores = rank(words, [((t.text, 1.0), (prompt, 0.5)) for _, prompt, t in versions])
    best = sorted(zip(versions, scores, strict=True), key=lambda each: each[1], reverse=True)
    return tuple(
        hit_of(words, score, t.created_at, run_id, t.id, t.text, prompt)
        for (run_id, prompt, t), score in best[:limit]
        if score > 0
    )


def hit_of(
    words: Sequence[str],
    score: float,
    created_at: datetime,
    run_id: str,
    thought_id: str,
    text: str,
    prompt: str,
) -> Hit:
    """A version as a hit; without a match its snippet is the beginning of the text."""
    return Hit(
        run_id=run_id,
        thought_id=thought_id,
        score=score,
        snippet=snippet(words, (text, prompt)) or shorten((text or prompt)[:2000]),
        created_at=created_at,
    )
