import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.record.diff import diff
from sifaka.record.results import Issue


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


def test_a_change_that_no_issue_asked_for_has_no_reason() -> None:
    (changed,) = [h for h in diff("a b", "a c", [Issue.at("a b", 0, 1, "x")]) if h.op != "equal"]
    assert changed.reason is None


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
