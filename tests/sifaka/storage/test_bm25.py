import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.storage.bm25 import MAX_WORDS, WordIndex, query_words, rank, shorten, snippet

WORDS = st.lists(st.sampled_from(["heron", "Heron", "Café", "tea", "x", "?"]), max_size=6)


def scores(query: str, *texts: str) -> list[float]:
    return rank(query_words(query), [((text, 1.0),) for text in texts])


def test_a_rare_word_weighs_more_than_a_frequent_one() -> None:
    rare, frequent, neither = scores("the heron", "a heron", "the stork", "no match")[:3]
    assert scores("the heron", "the heron", "the stork", "the crane")[0] > 0
    texts = ("heron x", "the x", "the y", "the z")
    assert scores("the heron", *texts)[0] > scores("the heron", *texts)[1]
    assert min(rare, frequent) > neither == 0


def test_a_match_in_a_short_text_weighs_more() -> None:
    short, long = scores("heron", "a heron", "a heron among very many other words")
    assert short > long


def test_repeating_a_word_helps_less_each_time() -> None:
    one, two, three, _ = scores("x", "x a a", "x x a", "x x x", "a a a")
    assert one < two < three
    assert three - two < two - one


def test_a_word_in_a_lighter_field_counts_less() -> None:
    title, body = rank(["x"], [(("x", 0.5), ("a", 1.0)), (("a", 0.5), ("x", 1.0))])
    assert 0 < title < body


def test_the_same_word_in_another_case_counts_once() -> None:
    assert query_words("Café CAFÉ, tea!") == ("CAFÉ", "tea")
    assert scores("Café cafe", "cafe") == scores("cafe", "cafe")


def test_a_long_query_is_cut() -> None:
    assert len(query_words(" ".join(f"w{n}" for n in range(1000)))) == MAX_WORDS


def test_nothing_is_ranked_in_nothing() -> None:
    assert scores("x") == []
    assert scores("", "a text") == [0]
    assert scores("x", "", "?!") == [0, 0]


def test_a_snippet_shows_the_surroundings_of_the_first_match() -> None:
    text = " ".join(f"w{n}" for n in range(50))
    assert snippet(["W20"], [text]).startswith("…w16 w17 w18 w19 **w20** w21")
    assert snippet(["w20"], [text]).endswith(" w31…")
    assert snippet(["w0"], [text]).startswith("**w0** w1")
    assert snippet(["w49"], [text]).endswith("w48 **w49**")
    assert snippet(["x"], [text]) == ""


def test_a_snippet_keeps_the_spelling_of_the_text() -> None:
    assert snippet(["creme"], ["", "Une  Crème\nbrûlée, s'il vous plaît"]) == (
        "Une **Crème** brûlée, s'il vous plaît"
    )


def test_a_snippet_is_cut_at_300_characters() -> None:
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
