"""The table of words in the wheel is what the program says that it was made of."""

import pytest

from distribution.word_data import corrections, typos
from sifaka.editor.spelling import corrections_of, known_misspellings


@pytest.mark.slow
def test_every_misspelling_is_one_of_typos_and_has_its_corrections() -> None:
    words = [line.partition(" ")[0] for line in known_misspellings()]
    assert words == sorted(words)
    assert len(words) > 90_000
    told = corrections(words)
    assert {word: list(corrections_of(word)) for word in words} == told


def test_words_that_are_right_have_no_corrections() -> None:
    right = ["receive", "the", "zzz", "a", "", "zyzzyva"]
    assert [list(corrections_of(word)) for word in right] == [[]] * len(right)
    assert corrections(right) == {}


def test_typos_is_there_to_compare_with() -> None:
    assert typos().exists()
