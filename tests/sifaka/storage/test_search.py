"""Queries, their filters, and how runs are ranked by words."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.run import Run
from sifaka.storage.bm25 import MAX_WORDS, WordIndex, query_words, rank, scan_log, shorten, snippet
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ANY, Filters
from sifaka.storage.query import parse_query
from tests.stubs.runs import keep

pytestmark = pytest.mark.anyio

WORDS = st.lists(st.sampled_from(["heron", "Heron", "Café", "tea", "x", "?"]), max_size=6)


def scores(query: str, *texts: str) -> list[float]:
    return rank(query_words(query), [((text, 1.0),) for text in texts])


def test_rare_words_short_texts_and_heavy_fields_weigh_more() -> None:
    rare, frequent, neither = scores("the heron", "a heron", "the stork", "no match")[:3]
    assert scores("the heron", "the heron", "the stork", "the crane")[0] > 0
    texts = ("heron x", "the x", "the y", "the z")
    assert scores("the heron", *texts)[0] > scores("the heron", *texts)[1]
    assert min(rare, frequent) > neither == 0
    short, long = scores("heron", "a heron", "a heron among very many other words")
    assert short > long
    one, two, three, _ = scores("x", "x a a", "x x a", "x x x", "a a a")
    assert one < two < three
    assert three - two < two - one
    title, body = rank(["x"], [(("x", 0.5), ("a", 1.0)), (("a", 0.5), ("x", 1.0))])
    assert 0 < title < body


def test_queries_are_words_once_in_bounds() -> None:
    assert query_words("Café CAFÉ, tea!") == ("CAFÉ", "tea")
    assert scores("Café cafe", "cafe") == scores("cafe", "cafe")
    assert len(query_words(" ".join(f"w{n}" for n in range(1000)))) == MAX_WORDS
    assert scores("x") == []
    assert scores("", "a text") == [0]
    assert scores("x", "", "?!") == [0, 0]


def test_a_snippet_shows_the_first_match_in_its_spelling_and_is_short() -> None:
    text = " ".join(f"w{n}" for n in range(50))
    assert snippet(["W20"], [text]).startswith("…w16 w17 w18 w19 **w20** w21")
    assert snippet(["w20"], [text]).endswith(" w31…")
    assert snippet(["w0"], [text]).startswith("**w0** w1")
    assert snippet(["w49"], [text]).endswith("w48 **w49**")
    assert snippet(["x"], [text]) == ""

    assert snippet(["creme"], ["", "Une  Crème\nbrûlée, s'il vous plaît"]) == (
        "Une **Crème** brûlée, s'il vous plaît"
    )
    assert len(shorten("x" * 301)) == 300
    assert shorten("x" * 300) == "x" * 300


@pytest.mark.slow
@given(st.lists(st.tuples(WORDS, WORDS), max_size=6), WORDS)
def test_an_index_ranks_as_a_single_search_does(
    texts: list[tuple[list[str], list[str]]], query: list[str]
) -> None:
    fields = [((" ".join(text), 1.0), (" ".join(title), 0.5)) for text, title in texts]
    words = query_words(" ".join(query))
    assert WordIndex(fields).rank(words) == pytest.approx(rank(words, fields))


async def test_a_scan_reads_the_latest_runs_and_says_so() -> None:
    log = MemoryStorage()
    runs = [await keep(log, f"zebra number{n}") for n in range(45)]

    async def found(latest: int | None) -> tuple[set[str], str]:
        hits = await scan_log(log, "zebra", limit=100, only=ANY, latest=latest)
        return {hit.run_id for hit in hits.hits}, hits.search

    assert await found(None) == ({run.run_id for run in runs}, "bm25")
    assert await found(45) == ({run.run_id for run in runs}, "bm25")
    assert await found(44) == ({run.run_id for run in runs[1:]}, "bm25 (the latest 44 runs)")
    assert await found(1) == ({runs[-1].run_id}, "bm25 (the latest 1 runs)")


class Counting:
    """Notes which runs of a log are read; one of them is damaged."""

    def __init__(self, log: MemoryStorage) -> None:
        self.log = log
        self.read: list[str] = []
        self.failure: StorageError | None = None
        self.recent = log.recent

    async def load(self, run_id: str) -> Run:
        self.read.append(run_id)
        if self.failure is not None and self.read[0] == run_id:
            raise self.failure
        return await self.log.load(run_id)


async def test_runs_that_a_filter_leaves_out_are_not_read() -> None:
    log = MemoryStorage()
    await keep(log, "zebra")
    new = await keep(log, "zebra", tags=("legal",))
    counting = Counting(log)
    only = Filters(since=new.thoughts[0].created_at)
    hits = await scan_log(counting, "zebra", limit=5, only=only, latest=None)  # pyright: ignore[reportArgumentType] - the half of a log that is needed
    assert [hit.run_id for hit in hits.hits] == counting.read == [new.run_id]


@pytest.mark.parametrize("retryable", [False, True])
async def test_a_damaged_run_is_left_out_and_a_log_that_is_away_is_told(retryable: bool) -> None:
    log = MemoryStorage()
    run = await keep(log, "zebra")
    await keep(log, "zebra")
    counting = Counting(log)
    counting.failure = StorageError("entry 2 cannot be read", retryable=retryable)

    async def found() -> list[str]:
        hits = await scan_log(counting, "zebra", limit=5, only=ANY, latest=None)  # pyright: ignore[reportArgumentType] - the half of a log that is needed
        return [hit.run_id for hit in hits.hits]

    if retryable:
        with pytest.raises(StorageError, match="entry 2"):
            await found()
    else:
        assert await found() == [run.run_id]


NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def test_filters_may_stand_anywhere_and_words_alone_are_none() -> None:
    assert parse_query("  refund   policy ") == ("refund policy", ANY)
    words, only = parse_query("tag:legal refund passed:true since:2026-01-31 policy tag:eu/de")
    assert words == "refund policy"
    assert only == Filters(
        tags=("legal", "eu/de"), passed=True, since=datetime(2026, 1, 31, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-01-31T00:00", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 2, 1, tzinfo=UTC)),
        ("2026-01-31T10:30", datetime(2026, 1, 31, 10, 30, tzinfo=UTC)),
        ("2026-01-31T10:30+02:00", datetime(2026, 1, 31, 8, 30, tzinfo=UTC)),
        ("30m", NOW - timedelta(minutes=30)),
        ("12h", NOW - timedelta(hours=12)),
        ("7d", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(weeks=2)),
    ],
)
def test_a_moment_is_a_date_a_time_or_how_long_ago_it_was(value: str, moment: datetime) -> None:
    assert parse_query(f"x until:{value}", now=NOW)[1] == Filters(until=moment)


@pytest.mark.parametrize(("value", "truth"), [("true", True), ("Yes", True), ("no", False)])
def test_passing_is_true_or_false(value: str, truth: bool) -> None:
    assert parse_query(f"x passed:{value}")[1] == Filters(passed=truth)


@pytest.mark.parametrize("words", ["re:invent", "https://x.test", "note:tag:x", "Tag:x", "a:b c"])
def test_what_only_looks_like_a_filter_is_a_word(words: str) -> None:
    assert parse_query(words) == (words, ANY)


@pytest.mark.parametrize(
    "query",
    [
        "x tag:",
        "x tag:a,b",
        "x since:1d since:2d",
        "x passed:true passed:false",
        "x passed:maybe",
        "x since:yesterday",
        "x since:9999999w",
        "x since:",
        "x since:0001-01-01T00:00+23:00",
        " ",
    ],
)
def test_a_filter_that_means_nothing_is_refused_by_name(query: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_query(query, now=NOW)
    name = query.strip().split(" ")[-1] if query.startswith("x") else "neither words nor filters"
    assert name in str(caught.value)
    assert caught.value.suggestion
