"""Quotes are looked up: what is not in the document proves nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.evidence.passages import QuotableText

TEXT = (
    "The tower was built from 1887 to 1889 — by the engineer’s own company.\n"
    "It is  330 metres\nhigh, not “300 metres” as some say. The mast weighs 10.5 tons."
)


def find_quote(quote: str, text: str) -> str | None:
    """The quoted words as they stand in the text."""
    span = QuotableText(text).find(quote)
    return None if span is None else text[slice(*span)]


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("built from 1887 to 1889", "built from 1887 to 1889"),
        ("it is 330 METRES high", "It is  330 metres\nhigh"),
        ('not "300 metres" as some say', "not “300 metres” as some say"),
        ("1889 - by the engineer's own company", "1889 — by the engineer’s own company"),
        ('"The tower was built"', "The tower was built"),
        ("...the mast weighs 10.5 tons...", "The mast weighs 10.5 tons"),
        ("The tower was built.", "The tower was built"),
    ],
)
def test_the_words_are_returned_exactly_as_they_stand_in_the_text(quote: str, found: str) -> None:
    assert find_quote(quote, TEXT) == found
    assert found in TEXT


@pytest.mark.parametrize(
    "quote",
    [
        "built from 1887 to 1888",
        "It is 300 metres high",
        "the tower was not built",
        "the mast weighs 10",
        "weighs 10. 5 tons",
        "87 to 1889",
        "the engine",
        "metres high, not 300",
    ],
)
def test_a_quote_with_another_word_or_digit_is_not_found(quote: str) -> None:
    assert find_quote(quote, TEXT) is None


@pytest.mark.parametrize(
    "quote", ["", "   ", "tower", "1889", "it is", "…", '""', "own company" * 99]
)
def test_one_common_word_proves_nothing_and_neither_does_a_copy(quote: str) -> None:
    assert find_quote(quote, f"{TEXT} {quote}") is None


def test_a_quote_with_an_omission_is_refused_since_a_not_may_have_been_left_out() -> None:
    text = "The drug does not, as has often been said, cure the disease."
    assert find_quote("The drug does ... cure the disease", text) is None
    assert find_quote("The drug […] cure the disease", text) is None
    assert find_quote("cure the disease", text) == "cure the disease"


def test_dots_that_the_text_has_itself_are_part_of_a_quote() -> None:
    assert find_quote("wait... and see what comes", "So wait… and see what comes.") is not None


def test_composed_and_decomposed_characters_are_the_same() -> None:
    assert find_quote("le café est fermé", "Le cafe\u0301 est ferme\u0301.") == (
        "Le cafe\u0301 est ferme\u0301"
    )
    assert find_quote("le cafe est ferme", "Le cafe\u0301 est ferme\u0301.") is None


def test_scripts_without_spaces_between_words_can_be_quoted() -> None:
    assert find_quote("高さは330メートル", "塔の高さは330メートルです。") == "高さは330メートル"
    assert find_quote("高さ", "塔の高さは330メートルです。") is None


@given(st.text(max_size=60), st.text(max_size=200))
def test_what_is_found_stands_in_the_text(quote: str, text: str) -> None:
    found = find_quote(quote, text)
    assert found is None or found in text


@given(st.text(alphabet="ab 1.-'\"…é\n", min_size=12, max_size=80), st.integers(0, 40))
def test_every_stretch_of_whole_words_is_found(text: str, at: int) -> None:
    quote = " ".join(text.split()[at % 5 :])
    words = [word for word in quote.split() if word.isalnum()]
    if len(words) == len(quote.split()) >= 2 and sum(map(len, words)) >= 8:
        assert find_quote(quote, text) is not None


def test_a_quote_that_stands_inside_a_longer_word_first_is_found_where_it_stands_alone() -> None:
    text = "Thousands: 11890 visitors and 1890 visitors came."
    assert find_quote("1890 visitors", text) == "1890 visitors"
    assert find_quote("1890 visitors", "Thousands: 11890 visitors came.") is None
    assert find_quote("300 metres high", "It is 1,300 metres high.") is None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("alpha beta " + "- " * 20 + "zeta", "alpha beta" + "-" * 2_000 + "x"),
        ("alpha beta " + "'" * 400 + "zeta", "alpha beta " + "'" * 300 + "x"),
        ("- alpha beta gamma", " " * 100_000),
        ("- alpha beta gamma", "- " * 50_000),
    ],
    ids=["dashes", "marks", "spaces", "a list of nothing"],
)
def test_no_quote_takes_more_than_one_way_through_a_text(quote: str, text: str) -> None:
    assert find_quote(quote, text) is None


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("- alpha beta gamma", "so --- alpha beta gamma", "- alpha beta gamma"),
        ("alpha - - beta gamma", "alpha — beta gamma", "alpha — beta gamma"),
        ("alpha ''beta'' gamma", "alpha “beta” gamma", "alpha “beta” gamma"),
    ],
)
def test_of_dashes_and_marks_it_does_not_count_how_many_there_are(
    quote: str, text: str, found: str
) -> None:
    assert find_quote(quote, text) == found


def test_a_minus_sign_counts() -> None:
    assert find_quote("-5 degrees Celsius", "It was 5 degrees Celsius.") is None
