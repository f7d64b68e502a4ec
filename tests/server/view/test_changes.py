"""Changes as a person reads them: whole words, and one reason for each edit."""

import io
import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest
from rich.console import Console

from sifaka.record.diff import Hunk, diff
from sifaka.record.results import Issue
from sifaka_mcp.view.edits import edits
from sifaka_mcp.view.terminal import MOST_CHANGES, list_changes, show_changes

WORDS = ["don't", "world-class", "e.g.", "a", "", " ", "été", "日本", "over", "overtake", ",", "\n"]


def marked(before: str, after: str, *issues: Issue) -> str:
    stream = io.StringIO()
    show_changes(diff(before, after, issues), Console(file=stream, highlight=False))
    return stream.getvalue().rstrip("\n")


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("so you donâ€™t go", "so you don’t go", "so you [-donâ€™t-]{+don’t+} (why) go"),
        ("a world-class tool", "a worldclass tool", "a [-world-class-]{+worldclass+} (why) tool"),
        ("for all all of us", "for all of us", "for[- all-] (why) all of us"),
        ("In truth we go", "we go", "[-In truth-] (why) we go"),
        ("two  spaces", "two spaces", "two[-  -]{+ +} (why) spaces"),
        ("However we go", "However, we go", "However{+,+} (why) we go"),
        ("日本の 古い 家", "日本の 新しい 家", "日本の [-古い-]{+新しい+} (why) 家"),
        ("the same", "the same", "the same"),
    ],
)
def test_no_word_is_split(before: str, after: str, shown: str) -> None:
    assert marked(before, after) == shown.replace(" (why)", "")


def test_what_one_issue_changed_in_two_places_has_one_reason() -> None:
    before = "You get it on a daily basis, and and you pay."
    issues = [Issue.at(before, 11, 27, "too long"), Issue.at(before, 29, 36, "repeated")]
    shown = marked(before, "You get it daily, and you pay.", *issues)
    assert shown == (
        "You get it [-on a daily basis-]{+daily+} (too long),[- and-] (repeated) and you pay."
    )


def test_the_edits_lead_from_the_one_text_to_the_other_word_by_word() -> None:
    rng = random.Random(4)  # noqa: S311 - the same texts each time
    for _ in range(400):
        before, after = ("".join(rng.choices(WORDS, k=rng.randrange(9))) for _ in range(2))
        found = edits(diff(before, after))
        assert "".join(hunk.before for hunk in found) == before
        assert "".join(hunk.after for hunk in found) == after
        position = 0
        for hunk in found:
            assert hunk.start == position, (before, after, found)
            position += len(hunk.before)
        for first, second in pairwise(found):
            for left, right in ((first.before, second.before), (first.after, second.after)):
                split = left[-1:].isalnum() and right[:1].isalnum()
                assert not split, (before, after, found)


def test_a_long_unchanged_stretch_is_shortened_between_words() -> None:
    stretch = " ".join(f"word{n}" for n in range(60))
    shown = marked(f"{stretch} ennd", f"{stretch} end")
    head, _, tail = shown.partition(" [...] ")
    assert set(head.split()) <= set(stretch.split())
    assert set(tail.split(" [-")[0].split()) <= set(stretch.split())


def test_lines_of_a_long_unchanged_stretch_stay_whole() -> None:
    lines = "\n".join(f"line number {n} of many" for n in range(30))
    shown = marked(f"{lines}\nennd", f"{lines}\nend").splitlines()
    assert shown.count("[...]") == 1
    assert set(shown) - {"[...]"} <= {*lines.splitlines(), "[-ennd-]{+end+}"}


def test_the_list_has_a_line_for_each_edit() -> None:
    stream = io.StringIO()
    before = "You get it on a daily basis."
    issue = Issue.at(before, 11, 27, "too long")
    hunks = diff(before, "You get it daily.", [issue])
    list_changes(hunks, Console(file=stream, highlight=False))
    assert stream.getvalue() == "'on a daily basis' -> 'daily' (too long)\n\n"


@pytest.mark.parametrize("show", [list_changes, show_changes])
def test_of_many_changes_the_rest_is_counted(
    show: Callable[[Sequence[Hunk], Console], None],
) -> None:
    stream = io.StringIO()
    lines = [f"It is teh line {number}.\n\n" for number in range(MOST_CHANGES + 5)]
    hunks = diff("".join(lines), "".join(lines).replace("teh", "the"))
    show(hunks, Console(file=stream, highlight=False, soft_wrap=True))
    assert stream.getvalue().count("teh") == MOST_CHANGES
    assert "and 5 more changes; --json has all" in stream.getvalue()
