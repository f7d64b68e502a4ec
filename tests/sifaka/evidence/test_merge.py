"""One list out of many, by the ranks of its documents."""

from datetime import UTC, datetime

import pytest

from sifaka.evidence.search import merged
from tests.sifaka.evidence.scripted_adapter import page

A, B, C, D = (page(f"harbour {letter}") for letter in "abcd")


def titles(*lists: list[object], most: int = 10) -> list[str]:
    return [each.title[-1] for each in merged(lists, most)]  # pyright: ignore[reportArgumentType]


def test_what_several_lists_hold_comes_first() -> None:
    assert titles([A, B], [C, B]) == ["b", "a", "c"]


def test_what_is_equal_keeps_the_order_of_the_lists() -> None:
    assert titles([C, A], [D, B]) == ["c", "d", "a", "b"]


def test_the_score_is_the_sum_of_reciprocal_ranks() -> None:
    first = merged([[A, B], [C, B]], 10)[0]
    assert first.score == pytest.approx(2 / 62)


def test_a_list_that_holds_a_document_twice_counts_once_with_its_better_rank() -> None:
    copy = A.model_copy(update={"url": f"{A.url}#part"})
    (only,) = merged([[A, copy]], 10)
    assert only.score == pytest.approx(1 / 61)


def test_the_most_bounds_the_merged_list() -> None:
    assert titles([A, B], [C, D], most=3) == ["a", "c", "b"]


def test_of_copies_the_one_with_an_address_then_a_date_then_more_text_is_kept() -> None:
    bare = A.model_copy(update={"url": "", "text": A.text * 9})
    dated = A.model_copy(update={"published": datetime(2020, 1, 1, tzinfo=UTC)})
    longer = A.model_copy(update={"text": A.text * 2})
    assert merged([[bare], [A]], 10)[0].url == A.url
    assert merged([[longer], [dated]], 10)[0].published is not None
    assert merged([[A], [longer]], 10)[0].text == longer.text
