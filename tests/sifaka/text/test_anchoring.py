"""Finding quotes in a text."""

import unicodedata

import pytest

from sifaka.text.anchoring import anchor

TEXT = "He said “hello\n  world” – and the café isn’t open… Really, it is not open at all."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("the café", "the café"),
        ("  open  ", "open"),
        ('"hello world"', "“hello\n  world”"),
        ("hello world", "hello\n  world"),
        ("isn't open...", "isn’t open…"),
        ("- and the", "– and the"),
        (unicodedata.normalize("NFD", "the café isn't"), "the café isn’t"),
        ("Really, it is nott open at all", "Really, it is not open at all"),
        ("Realy, it is not open at all", "Really, it is not open at all"),
    ],
)
def test_a_quote_is_found_as_it_stands_in_the_text(quote: str, found: str) -> None:
    span = anchor(TEXT, quote)
    assert span is not None
    assert TEXT[slice(*span)] == found


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "   ",
        "zzz",
        "The weather is nice today.",
        TEXT + " And there is a lot more to say here.",
    ],
)
def test_what_is_not_in_the_text_has_no_place(quote: str) -> None:
    assert anchor(TEXT, quote) is None


def test_a_text_of_decomposed_characters_is_found_by_composed_ones() -> None:
    text = unicodedata.normalize("NFD", "Über den Café\u00ad-Tischen hängt Dämmerung.")
    span = anchor(text, "hängt Dämmerung")
    assert span is not None
    assert unicodedata.normalize("NFC", text[slice(*span)]) == "hängt Dämmerung"


def test_the_first_of_several_places_counts_and_a_long_quote_has_to_be_exact() -> None:
    text = " ".join(f"word{n}" for n in range(200))
    assert anchor(text, text[:800]) == (0, 800)
    assert anchor(text, text[:800].replace("word7 ", "wort7 ")) is None
    assert anchor(text, text[:300].replace("word7 ", "wort7 ")) == (0, 300)
    assert anchor("one two one two", "two") == (4, 7)


def test_a_similar_quote_is_found_in_a_text_of_a_million_characters() -> None:
    text = "".join(
        f"Sentence {n} of the book says something about {n * 7}. " for n in range(20_000)
    )
    text = text[:1_000_000]
    at = text.index("Sentence 12345 ")
    quote = text[at : at + 48].replace("says", "sais").replace("something", "somthing")
    span = anchor(text, quote)
    assert span is not None
    assert span[0] == at
    assert text[slice(*span)].startswith("Sentence 12345 of the book says something about")
    assert anchor(text, "a sentence that somebody has made up from nothing") is None
