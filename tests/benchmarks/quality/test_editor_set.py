"""The labelled sentences, and how edits of them are judged."""

import pytest

from benchmarks.quality.editor.judgement import is_right, mended, mistakes
from benchmarks.quality.editor.labelled import load

RIGHT = "I recommend it; we were there, in a hotel."


def test_the_halves_share_no_sentence_and_each_has_mistakes_and_traps() -> None:
    tuning, held_out = load("tuning"), load("held_out")
    assert not {s.text for s in tuning} & {s.text for s in held_out}
    for half in (tuning, held_out):
        assert len(half) >= 300
        assert sum(sample.corrected is None for sample in half) >= 100
        assert all(mistakes(s.text, s.right) for s in half if s.corrected is not None)


@pytest.mark.parametrize(
    ("text", "right", "count"),
    [
        ("Its definately cold.", "It's definitely cold.", 2),
        ("He lives in in a town.", "He lives in a town.", 1),
        ("I like it alot.", "I like it a lot.", 1),
        ("It was late.We left .", "It was late. We left.", 2),
        ("She is teacher.", "She is a teacher.", 1),
    ],
)
def test_mistakes_are_counted_word_by_word(text: str, right: str, count: int) -> None:
    assert len(mistakes(text, right)) == count
    assert mended(text, right, right) == count
    assert mended(text, text, right) == 0


def test_an_edit_is_right_when_it_mends_something_and_changes_nothing_else() -> None:
    text, right = "He lives in in a twon.", "He lives in a town."
    assert is_right(text, 9, 14, "in", right)
    assert is_right(text, 17, 21, "town", right)
    assert is_right(text, 9, 21, "in a town", right)
    assert not is_right(text, 17, 21, "tow", right)
    assert not is_right(text, 0, 2, "She", right)
    assert mended(text, "He lives in in a town.", right) == 1
    assert mended(text, "She lives in a town.", right) == 1


def test_in_a_text_without_mistakes_every_edit_is_wrong() -> None:
    assert not is_right(RIGHT, 0, 1, "You", RIGHT)
    assert mistakes(RIGHT, RIGHT) == ()
