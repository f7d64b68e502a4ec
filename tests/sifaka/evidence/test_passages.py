"""Passages of documents, and excerpts of them."""

import pytest

from sifaka.evidence.passages import GAP, excerpt, nearest, passages_of, without_heading
from sifaka.record.thought import Document

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


def test_passages_with_the_words_of_a_claim_come_first() -> None:
    passages = passages_of([HISTORY, HEIGHT])
    found = nearest("The tower is 330 metres high.", passages, 1)
    assert [passage.document.title for passage in found] == ["Heights"]


def test_words_of_a_claim_are_found_in_other_forms() -> None:
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


def test_a_long_query_does_not_displace_a_short_one() -> None:
    text = f"{FILLING} {HEIGHT.text} {FILLING} {HISTORY.text}"
    everything = "sentence number stands here says nothing"
    assert "330 metres" in excerpt(text, [everything, "metres"], 1_500)


def test_the_passages_of_an_excerpt_stand_in_the_text() -> None:
    text = f"{FILLING} {HEIGHT.text} {FILLING}"
    squeezed = " ".join(text.split())
    for passage in excerpt(text, "metres high", 2_500).split(GAP):
        assert " ".join(passage.split()) in squeezed


def test_an_excerpt_of_what_matches_nothing_is_the_beginning() -> None:
    assert FILLING.startswith(excerpt(FILLING, "xylophone", 1_000).split("\n")[0])
    assert 0 < len(excerpt("x" * 5_000, "y", 10)) <= 10


@pytest.mark.parametrize(
    "passage", ["# Towers\n\nIt is high.", "Towers\n======\n\n## High\nIt is high.", "It is high."]
)
def test_a_passage_is_quoted_without_the_headings_it_begins_with(passage: str) -> None:
    assert without_heading(passage) == "It is high."
