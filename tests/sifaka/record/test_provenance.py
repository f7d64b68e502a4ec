from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.record.diff import Hunk, Piece, diff
from sifaka.record.entries import Critiqued, Decided, Decision, Drafted, Entry, Started
from sifaka.record.provenance import Steps, explained_diff, reasons_for, step_diff
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.run import Run
from sifaka.record.thought import Thought


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


def test_each_change_has_the_reason_of_the_step_that_made_it() -> None:
    run = run_of(
        ("The cat sat on the mat because it could today.", [("cat", "too tame")]),
        ("The lion sat on the mat because it could today.", [("mat", "too small")]),
        ("The lion sat on the savannah because it could today.", [("today", "when?")]),
        ("The lion sat on the savannah because it could at noon.", []),
    )
    assert changed(run) == [
        ("cat", "lion", "too tame"),
        ("mat", "savannah", "too small"),
        ("today", "at noon", "when?"),
    ]


def test_a_change_that_nobody_asked_for_says_so() -> None:
    run = run_of(
        ("one two three", [("one", "number it")]),
        ("1 two three", []),
        ("1 two four", []),
    )
    assert changed(run) == [("one", "1", "number it"), ("three", "four", None)]


def test_words_that_moved_keep_their_reason() -> None:
    run = run_of(
        ("alpha is the letter", [("alpha", "in English")]),
        ("first is the letter", list[tuple[str, str]]()),
        ("well then, first is the letter", []),
    )
    assert changed(run) == [("alpha", "well then, first", "in English")]


def test_what_was_taken_away_has_its_reason_too() -> None:
    run = run_of(
        ("It is very, very good news indeed.", [("very, very ", "say it once")]),
        ("It is good news indeed.", [("indeed", "empty word")]),
        ("It is good news.", []),
    )
    assert [reason for _, _, reason in changed(run)] == ["say it once", "empty word"]


def test_what_was_changed_and_changed_back_is_no_change() -> None:
    run = run_of(
        ("a plain word", [("plain", "dull")]),
        ("a shiny word", [("shiny", "too much")]),
        ("a plain word", []),
    )
    assert changed(run) == []


@pytest.mark.parametrize("count", [1, 2])
def test_one_step_is_the_plain_diff(count: int) -> None:
    versions = [("a b c", [("b", "wrong")]), ("a x c", list[tuple[str, str]]())][:count]
    assert changed(run_of(*versions)) == ([("b", "x", "wrong")] if count == 2 else [])


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
