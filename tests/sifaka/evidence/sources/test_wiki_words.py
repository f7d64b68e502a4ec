import pytest

from sifaka.evidence.sources.mediawiki import (
    MOST_WORDS,
    by_words,
    named,
    rarest,
    words_of,
)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("The tower is 41 metres tall.", ("tower", "41", "metres", "tall")),
        ('"quoted (words" -not OR intitle:title*', ("quoted", "words", "intitle", "title")),
        ("apples AND pears NEAR plums", ("apples", "pears", "near", "plums")),
        ("Corrin's path, 1,036 metres", ("Corrin", "path", "1", "036", "metres")),
        ("Who is it?", ("Who", "is", "it")),
        ("tower Tower TOWER", ("tower",)),
        ("हिन्दी विकिपीडिया", ("हिन्दी", "विकिपीडिया")),
        ("塔", ("塔",)),
        ("!?* -", ()),
        ("", ()),
    ],
)
def test_the_words_of_a_question_are_found_without_operators(
    question: str, words: tuple[str, ...]
) -> None:
    assert words_of(question) == words


def test_of_a_long_question_the_most_telling_words_are_kept_in_their_order() -> None:
    many = " ".join(f"word{'x' * i}" for i in range(20))
    found = words_of(f"{many} Thorsby 1867 {'y' * 500}")
    assert len(found) == MOST_WORDS
    assert found[-3:-1] == ("Thorsby", "1867")
    assert max(map(len, found)) <= 40


def test_words_that_no_page_has_are_not_the_rarest() -> None:
    assert rarest({"a": 3, "b": 0, "c": 1, "d": 9, "e": 2}) == ("a", "c", "e")


def test_pages_with_the_rarer_words_come_first_and_those_with_little_are_left_out() -> None:
    hits = {"common": 100, "rare": 2, "name": 2}
    pages = {"common": [1, 2, 3], "rare": [2, 4], "name": [2]}
    assert by_words(pages, hits) == [2, 4]
    assert by_words(pages, hits, always={3}) == [2, 4, 3]
    assert by_words({"common": [1, 3]}, {"common": 2}) == [1, 3]
    assert by_words({}, {}) == []


def test_a_question_names_a_title_when_it_has_all_its_words() -> None:
    question = "Where does the SKELL petrel breed?"
    assert (named("Skell petrel", question), named("Skell", question)) == (2, 1)
    assert named("Skell petrel", "Where is Skell?") == 0
    assert named("!!!", "What?") == 0
