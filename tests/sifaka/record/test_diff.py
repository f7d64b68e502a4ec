"""Diffs: their hunks, the reasons of these, and edits made of them."""

import random
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.errors import ConfigurationError
from sifaka.record.diff import Edit, Hunk, Piece, diff, edited, edits_of
from sifaka.record.entries import Critiqued, Decided, Decision, Drafted, Entry, Started
from sifaka.record.provenance import Steps, explained_diff, reasons_for, step_diff
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.run import Run
from sifaka.record.thought import Thought


def test_a_word_that_changed_is_one_hunk_with_the_reason_for_it() -> None:
    before = "We recieve it today."
    issue = Issue.at(before, 3, 10, "misspelt")
    (changed,) = [h for h in diff(before, "We receive it today.", [issue]) if h.op != "equal"]
    assert (changed.op, changed.before, changed.after, changed.start) == (
        "replace",
        "recieve",
        "receive",
        3,
    )
    assert changed.reason == "misspelt"


def test_the_issue_that_covers_most_of_a_change_is_its_reason() -> None:
    before = "Keep this. Drop all of that."
    issues = [Issue.at(before, 9, 10, "full stop"), Issue.at(before, 10, 28, "too long")]
    (changed,) = [h for h in diff(before, "Keep this.", issues) if h.op != "equal"]
    assert (changed.op, changed.reason) == ("delete", "too long")


@given(st.text("ab .\n"), st.text("ab .\n"))
def test_the_hunks_put_together_are_the_two_texts(before: str, after: str) -> None:
    hunks = diff(before, after)
    assert "".join(h.before for h in hunks) == before
    assert "".join(h.after for h in hunks) == after


@pytest.mark.timeout(30)  # of the many minutes that a careless comparison takes
@pytest.mark.parametrize(
    "piece",
    ["- **A list item** with some words\n\nAnd a paragraph, again and again.\n\n", "word word. "],
)
def test_a_long_text_that_repeats_itself_does_not_hang_the_comparison(piece: str) -> None:
    before = piece * (400_000 // len(piece))
    after = before.replace("again", "once more", 50).replace("word", "term", 50) + "The end."
    hunks = diff(before, after)
    assert "".join(h.after for h in hunks) == after


def test_a_figure_changes_as_a_whole() -> None:
    hunks = diff("It costs 11.90 at 9:30.", "It costs 11.40 at 14:00.")
    changed = [(each.before, each.after) for each in hunks if each.op != "equal"]
    assert changed == [("11.90", "11.40"), ("9:30", "14:00")]


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


def run_of(*versions: tuple[str, list[tuple[str, str]]]) -> Run:
    """A run whose versions follow one another; with each the issues as (quote, message)."""
    entries: list[Entry] = [started := Started(prompt="")]
    thought = Thought(run_id=started.run_id)
    for number, (text, found) in enumerate(versions):
        thought = (
            thought.with_text(text) if number == 0 else thought.next_iteration().with_text(text)
        )
        issues = tuple(
            Issue.at(text, text.index(quote), text.index(quote) + len(quote), message)
            for quote, message in found
        )
        entries += [
            Drafted(thought=thought.model_copy(update={"history": ()})),
            Critiqued(
                thought_id=thought.id,
                feedback=(CriticFeedback(critic="c", verdict="revise", issues=issues),),
            ),
            Decided(thought_id=thought.id, decision=Decision(accepted=True, note="better")),
        ]
    return Run.replay(entries)


def changed(run: Run) -> list[tuple[str, str, str | None]]:
    assert run.champion is not None
    hunks: tuple[Hunk, ...] = explained_diff(run, run.champion)
    return [(h.before, h.after, h.reason) for h in hunks if h.op != "equal"]


Version = tuple[str, list[tuple[str, str]]]
CHANGES: dict[str, tuple[list[Version], list[tuple[str, str, str | None]]]] = {
    "each change has the reason of the step that made it": (
        [
            ("The cat sat on the mat because it could today.", [("cat", "too tame")]),
            ("The lion sat on the mat because it could today.", [("mat", "too small")]),
            ("The lion sat on the savannah because it could today.", [("today", "when?")]),
            ("The lion sat on the savannah because it could at noon.", []),
        ],
        [
            ("cat", "lion", "too tame"),
            ("mat", "savannah", "too small"),
            ("today", "at noon", "when?"),
        ],
    ),
    "a change that nobody asked for says so": (
        [("one two three", [("one", "number it")]), ("1 two three", []), ("1 two four", [])],
        [("one", "1", "number it"), ("three", "four", None)],
    ),
    "words that moved keep their reason": (
        [
            ("alpha is the letter", [("alpha", "in English")]),
            ("first is the letter", []),
            ("well then, first is the letter", []),
        ],
        [("alpha", "well then, first", "in English")],
    ),
    "what was taken away has its reason too": (
        [
            ("It is very, very good news indeed.", [("very, very ", "say it once")]),
            ("It is good news indeed.", [("indeed", "empty word")]),
            ("It is good news.", []),
        ],
        [("very, very ", "", "say it once"), (" indeed", "", "empty word")],
    ),
    "what was changed and changed back is no change": (
        [
            ("a plain word", [("plain", "dull")]),
            ("a shiny word", [("shiny", "too much")]),
            ("a plain word", []),
        ],
        [],
    ),
    "one step is the plain diff": (
        [("a b c", [("b", "wrong")]), ("a x c", [])],
        [("b", "x", "wrong")],
    ),
    "the first version has no changes": ([("a b c", [("b", "wrong")])], []),
}


@pytest.mark.parametrize("case", CHANGES)
def test_the_changes_over_several_versions_have_the_reasons_of_their_steps(case: str) -> None:
    versions, told = CHANGES[case]
    assert changed(run_of(*versions)) == told


@given(st.lists(st.text(alphabet="ab c.\n", max_size=30), min_size=2, max_size=5))
def test_the_hunks_always_lead_from_the_first_to_the_last(texts: list[str]) -> None:
    run = run_of(*[(text, list[tuple[str, str]]()) for text in texts])
    assert run.champion is not None
    hunks = explained_diff(run, run.champion)
    assert "".join(h.before for h in hunks) == texts[0]
    assert "".join(h.after for h in hunks) == texts[-1]


@pytest.mark.slow
@given(st.lists(st.text(alphabet="ab c.\n", max_size=30), min_size=2, max_size=5))
def test_a_step_is_told_as_the_plain_diff_tells_it(texts: list[str]) -> None:
    found = [(text, [(text[:3], "better")]) for text in texts]
    run, steps = run_of(*found), Steps()
    for before, after in pairwise(run.thoughts):
        explained_diff(run, after, steps)
        plain = diff(before.text, after.text, reasons_for(before, after))
        assert step_diff(before, after, steps) == plain


def test_words_that_differ_are_compared_once_for_all_the_diffs_of_a_run() -> None:
    class Watched(Steps):
        def __init__(self) -> None:
            super().__init__()
            self.asked: list[tuple[tuple[str, str], int]] = []

        def words(self, old: str, new: str) -> Sequence[Piece]:
            pieces = super().words(old, new)
            self.asked.append(((old, new), id(pieces)))
            return pieces

    run, steps = run_of(("a\nb c\n", []), ("a\nb d\n", []), ("e\nb d\n", [])), Watched()
    for before, after in pairwise(run.thoughts):
        explained_diff(run, after, steps)
        step_diff(before, after, steps)
    assert len(steps.asked) > len(set(steps.asked))
    stretches = [stretch for stretch, _ in set(steps.asked)]
    assert len(stretches) == len(set(stretches))
