"""Edits: made of a diff, made in a text."""

import random

import pytest

from sifaka.errors import ConfigurationError
from sifaka.record.diff import Edit, diff, edited, edits_of

_WORDS = ("the", "ship", "sails", "over", "a", "blue", "sea", "to", "an", "old", "harbour")


def _text(chance: random.Random) -> str:
    lines = [
        " ".join(chance.choice(_WORDS) for _ in range(chance.randint(0, 9)))
        for _ in range(chance.randint(1, 12))
    ]
    return "\n".join(lines) + chance.choice(["", "\n"])


def _changed(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(words))
        words[at : at + chance.randint(0, 2)] = [chance.choice(_WORDS)] * chance.randint(0, 2)
    return " ".join(words)


@pytest.mark.parametrize("seed", range(200))
def test_the_edits_of_a_diff_lead_to_its_second_text_and_occur_once(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a text, not a secret
    before = _text(chance)
    after = _changed(before, chance)
    edits = edits_of(diff(before, after))
    assert edits is not None
    if before:
        assert all(before.count(edit.find) == 1 for edit in edits)
        assert edited(before, edits) == after


def test_an_edit_has_the_words_around_its_change_that_make_it_unique() -> None:
    edits = edits_of(diff("The sea. The the sea.", "The sea. The sea."))
    assert edits is not None
    (edit,) = edits
    assert "The sea. The the sea.".count(edit.find) == 1
    assert len(edit.find) < len("The sea. The the sea.")


def test_all_edits_are_found_in_the_text_as_it_was() -> None:
    swap = [Edit(find="one", replace="two"), Edit(find="two", replace="one")]
    assert edited("one and two", swap) == "two and one"


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        ([Edit(find="sea", replace="x")], "edits[0].find 'sea' occurs 2 times"),
        ([Edit(find="lake", replace="x")], "edits[0].find 'lake' occurs 0 times"),
        ([Edit(find="", replace="x")], "edits[0].find is empty"),
        (
            [Edit(find="sea to", replace="x"), Edit(find="to sea", replace="y")],
            "edits[0] and edits[1] change the same words",
        ),
    ],
)
def test_an_edit_that_is_not_of_one_place_is_refused(edits: list[Edit], said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        edited("sea to sea", edits)
    assert said in str(refused.value)


def test_words_that_overlap_themselves_occur_more_than_once() -> None:
    with pytest.raises(ConfigurationError, match="occurs 2 times"):
        edited("aaa", [Edit(find="aa", replace="b")])
