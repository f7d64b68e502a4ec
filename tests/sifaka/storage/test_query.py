from datetime import UTC, datetime, timedelta

import pytest

from sifaka.errors import ConfigurationError
from sifaka.storage.protocol import ANY, Filters
from sifaka.storage.query import parse_query

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def test_words_alone_filter_nothing() -> None:
    assert parse_query("  refund   policy ") == ("refund policy", ANY)


def test_filters_may_stand_anywhere_and_are_not_words() -> None:
    words, only = parse_query("tag:legal refund passed:true since:2026-01-31 policy tag:eu/de")

    assert words == "refund policy"
    assert only == Filters(
        tags=("legal", "eu/de"), passed=True, since=datetime(2026, 1, 31, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
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
