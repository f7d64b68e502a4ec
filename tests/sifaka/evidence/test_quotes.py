"""Quotes are looked up: what is not in the document proves nothing; passages and excerpts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.evidence.passages import (
    GAP,
    QuotableText,
    excerpt,
    nearest,
    passages_of,
    without_heading,
)
from sifaka.record.thought import Document

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


NOT = "The drug does not, as has often been said, cure the disease."
FERME = "Le cafe\u0301 est ferme\u0301."


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        # Of dashes and marks it does not count how many there are; a minus sign counts.
        ("- alpha beta gamma", "so --- alpha beta gamma", "- alpha beta gamma"),
        ("alpha - - beta gamma", "alpha — beta gamma", "alpha — beta gamma"),
        ("alpha ''beta'' gamma", "alpha “beta” gamma", "alpha “beta” gamma"),
        ("-5 degrees Celsius", "It was 5 degrees Celsius.", None),
        # By an omission a `not` may be left out; dots may be of the text itself.
        ("The drug does ... cure the disease", NOT, None),
        ("The drug […] cure the disease", NOT, None),
        ("cure the disease", NOT, "cure the disease"),
        ("wait... and see what comes", "So wait… and see what comes.", "wait… and see what comes"),
        # Composed and decomposed characters are the same, others are not.
        ("le café est fermé", FERME, FERME[:-1]),
        ("le cafe est ferme", FERME, None),
        # Scripts without spaces between words.
        ("高さは330メートル", "塔の高さは330メートルです。", "高さは330メートル"),
        ("高さ", "塔の高さは330メートルです。", None),
        # What stands inside a longer word first is found where it stands alone.
        ("1890 visitors", "From 11890 visitors 1890 visitors came.", "1890 visitors"),
        ("1890 visitors", "Thousands: 11890 visitors came.", None),
        ("300 metres high", "It is 1,300 metres high.", None),
    ],
)
def test_a_quote_is_found_as_it_stands_or_not_at_all(
    quote: str, text: str, found: str | None
) -> None:
    assert find_quote(quote, text) == found


HEIGHT = Document(id="d1", title="Heights", text="The tower is 330 metres high.")
HISTORY = Document(id="d2", title="History", text="The tower was built from 1887 to 1889.")
FILLING = " ".join(f"Sentence number {n} stands here and says nothing." for n in range(400))


def test_long_documents_are_cut_where_a_sentence_ends() -> None:
    text = " ".join(f"Sentence number {n} stands here." for n in range(300))
    passages = passages_of([Document(text=text), Document(text=text)])
    assert " ".join(passage.text for passage in passages) == text, "each text once"
    assert all(len(passage.text) <= 2_000 for passage in passages)
    assert all(passage.text.endswith(".") for passage in passages)
    digits = "".join(map(str, range(2_000)))
    assert "".join(p.text for p in passages_of([Document(text=digits)])) == digits


def test_front_matter_is_no_passage() -> None:
    text = "---\nauthor: Ida Thorsby\ndate: 1889-03-31\n---\n\nThe tower is 330 metres high."
    (passage,) = passages_of([Document(text=text)])
    assert passage.text == "The tower is 330 metres high."


def test_passages_nearest_to_a_claim_come_first_in_any_form_of_its_words() -> None:
    passages = passages_of([HISTORY, HEIGHT])
    found = nearest("The tower is 330 metres high.", passages, 1)
    assert [passage.document.title for passage in found] == ["Heights"]
    eruption = Document(id="d3", title="Eruptions", text="The volcano erupted violently in 1883.")
    passages = passages_of([HISTORY, HEIGHT, eruption])
    (found,) = nearest("There were violent eruptions of volcanoes.", passages, 1)
    assert found.document.id == "d3"


def test_a_short_text_is_its_own_excerpt() -> None:
    assert excerpt("  As it is.\n", "anything", 100) == "  As it is.\n"


def test_an_excerpt_holds_what_matches_in_the_order_of_the_text() -> None:
    text = f"{FILLING} {HEIGHT.text} {FILLING} {HISTORY.text} {FILLING}"
    shown = excerpt(text, ["When was the tower built?", "How many metres is it high?"], 3_000)
    assert len(shown) <= 3_000
    assert 0 < shown.index(HEIGHT.text) < shown.index(HISTORY.text)
    assert GAP in shown


def test_an_excerpt_is_of_what_matches_or_of_the_beginning() -> None:
    text = f"{FILLING} {HEIGHT.text} {FILLING} {HISTORY.text}"
    everything = "sentence number stands here says nothing"
    assert "330 metres" in excerpt(text, [everything, "metres"], 1_500)
    text = f"{FILLING} {HEIGHT.text} {FILLING}"
    squeezed = " ".join(text.split())
    for passage in excerpt(text, "metres high", 2_500).split(GAP):
        assert " ".join(passage.split()) in squeezed
    assert FILLING.startswith(excerpt(FILLING, "xylophone", 1_000).split("\n")[0])
    assert 0 < len(excerpt("x" * 5_000, "y", 10)) <= 10


@pytest.mark.parametrize(
    "passage", ["# Towers\n\nIt is high.", "Towers\n======\n\n## High\nIt is high.", "It is high."]
)
def test_a_passage_is_quoted_without_the_headings_it_begins_with(passage: str) -> None:
    assert without_heading(passage) == "It is high."
