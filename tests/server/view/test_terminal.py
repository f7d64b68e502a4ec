"""What a terminal is sent: words, changes, times and rows that fit, and nothing it would obey."""

import io
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
import rich.console
import rich.text
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sifaka.chain import Chain, RunResult
from sifaka.record.diff import Hunk, diff
from sifaka.record.results import Issue
from sifaka_mcp.safe_text import visible
from sifaka_mcp.schemas.history import HistoryOut, RunLine
from sifaka_mcp.schemas.wire import Foreign
from sifaka_mcp.view import console
from sifaka_mcp.view.edits import edits
from sifaka_mcp.view.terminal import (
    MOST_CHANGES,
    list_changes,
    show_changes,
    show_run,
)
from sifaka_mcp.view.text import history

pytestmark = pytest.mark.anyio


CLIPBOARD = "\x1b]52;c;cm0gLXJm\x07"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\r\nlines\n\tof\u00a0words \U0001f469\u200d\U0001f680", None),
        (f"a{CLIPBOARD}b", "a\\x1b]52;c;cm0gLXJm\\x07b"),
        ("a\x9b31mb\x7f", "a\\x9b31mb\\x7f"),
        ("a\rb", "a\\rb"),
        ("safe \u202etxt.exe", "safe \\u202etxt.exe"),
    ],
)
def test_what_a_terminal_would_obey_is_spelt_out(text: str, shown: str | None) -> None:
    assert visible(text) == (text if shown is None else shown)


async def test_neither_the_text_of_a_run_nor_what_is_said_about_it_moves_the_cursor() -> None:
    text = f"The tower{CLIPBOARD} is 300 m tall.\n"
    spec = {"type": "content", "required": [f"words{CLIPBOARD}"]}
    run = await Chain(model="caller", validators=[spec], critics=()).run("", text=text)
    stream = io.StringIO()
    show_run(RunResult(run=run.run), stream, lambda *words: " ".join(words), show_text=True)
    assert "The tower" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
    assert "\x07" not in stream.getvalue()


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
        ("In truth we go", "we go", "[-In truth -] (why) we go"),
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


def test_a_run_in_a_list_is_a_line_that_begins_with_its_id_and_moment() -> None:
    run = RunLine(
        run_id="run_1",
        status="done",
        passed=True,
        stop_reason="accepted",
        iterations=1,
        excerpt=Foreign("a\x1b[2Jb\u202ec\n d" + "改善" * 100),
        created_at="2026-11-23T12:00:00+00:00",
        updated_at="2026-11-23T12:05:09+00:00",
    )
    (line,) = history(HistoryOut(runs=[run])).splitlines()
    assert line.startswith("run_1  2026-11-23T12:05  passed: yes  'a")
    assert line.endswith("'  done (accepted), versions: 2")
    assert "\x1b" not in line
    assert "\u202e" not in line
    assert len(line) < 160
    assert history(HistoryOut(runs=[])) == "nothing found"


TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=30)


def printed(make: Callable[[Any, Any], None], modules: tuple[Any, Any]) -> str:
    stream = io.StringIO()
    make(modules[0](file=stream, highlight=False, soft_wrap=True), modules[1])
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


RICH = (rich.console.Console, rich.text.Text)
PLAIN = (console.PlainConsole, console.PlainText)


@given(TEXTS, TEXTS)
def test_texts_are_the_same(first: str, second: str) -> None:
    def make(console: Any, text: Any) -> None:
        line = text.assemble((first, "bold"), "  ", second)
        line.append(" end", style="red")
        console.print(line)
        console.print(text(f"{first}\n{second}"))

    assert printed(make, RICH) == printed(make, PLAIN)


def test_the_views_take_nothing_else_from_rich() -> None:
    assert all(hasattr(console, f"Plain{name}") for name in console.__all__)
