"""Citations are numbers in brackets; code and quotes are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.research.report import cited, literal, renumbered


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("One [2] two [1][2].", (2, 1)),
        ("Both [1, 3] and [2; 4].", (1, 3, 2, 4)),
        ("A footnote[^5].", (5,)),
        ("A link [6](https://elsewhere.example).", (6,)),
        ("No [text], no [12345], no [a1].", ()),
        ("Code `a[1]` stays, [2] counts.", (2,)),
        ("```\na[1]\n```\nAfter [2].", (2,)),
        ("A stray ` here [1].\nAnd ` there [2].", (1, 2)),
    ],
)
def test_the_numbers_are_those_that_the_text_cites(text: str, numbers: tuple[int, ...]) -> None:
    assert cited(text) == numbers


def test_known_citations_are_renumbered_and_unknown_ones_removed_and_told() -> None:
    text, unknown = renumbered("One [2], two [1, 9] and [7].", {1: 4, 2: 1})
    assert (text, unknown) == ("One [1], two [4] and.", (9, 7))


def test_two_numbers_that_become_one_are_cited_once() -> None:
    assert renumbered("Same [1, 2].", {1: 3, 2: 3})[0] == "Same [3]."


def test_a_link_of_the_model_does_not_stay_behind_a_citation() -> None:
    assert renumbered("See [1](https://evil.example).", {1: 1})[0] == "See [1]."


def test_code_is_left_as_it_is() -> None:
    text = "Use `a[1]`.\n\n~~~\nb[2]\n~~~"
    assert renumbered(text, {}) == (text, ())


@given(st.text(alphabet="[]0123456789,;^ `~a\n", max_size=60))
def test_after_renumbering_only_known_numbers_are_cited(text: str) -> None:
    known = {1: 10, 2: 20}
    new, unknown = renumbered(text, known)
    assert set(cited(new)) <= set(known.values())
    assert set(unknown).isdisjoint(known)


@given(st.text(alphabet="[]0123456789,;^ `a", max_size=60))
def test_a_quoted_text_cites_nothing(text: str) -> None:
    assert cited(literal(text)) == ()
    assert cited(f"{literal(text)} [7]")[-1:] == (7,)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("See [1](javascript:alert(1)).", "See [1] (javascript:alert(1))."),
        ("[1]: https://evil.example", "[1] : https://evil.example"),
        ("See [1]: it is so.", "See [1] : it is so."),
    ],
)
def test_no_citation_becomes_a_link_by_what_stands_after_it(text: str, left: str) -> None:
    assert renumbered(text, {1: 1})[0] == left


@pytest.mark.parametrize("text", [" " * 200_000, "[1] `c` " * 25_000], ids=["spaces", "code"])
def test_citations_are_found_in_proportion_to_the_length_of_a_text(text: str) -> None:
    assert cited(text) == ((1,) if "[1]" in text else ())
