"""The view of a run, and the file that holds it."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from pydantic_core import to_json

from sifaka.record.diff import diff
from sifaka.record.run import Run
from sifaka_mcp.cli import run as command
from sifaka_mcp.cli.improve import TEXT
from sifaka_mcp.ui.page_data import Data, Units, overview_of, version_of
from sifaka_mcp.ui.pages import Door, page, page_of
from tests.stubs.cost import seconds
from tests.ui import runs
from tests.ui.payloads import payloads


def applied(base: str, version: Data, name: str) -> tuple[str, str]:
    """Both texts, put together from the hunks as the page does it, in UTF-16 code units."""
    wide = [text.encode("utf-16-le") for text in (base, version["text"])]
    before, after, out = 0, 0, [b"", b""]
    for op, gone, come, _ in version["comparisons"][name]["hunks"]:
        old, new = wide[0][2 * before :][: 2 * gone], wide[1][2 * after :][: 2 * come]
        assert (op == "=") == (old == new)
        out = [out[0] + old, out[1] + new]
        before, after = before + gone, after + come
    return out[0].decode("utf-16-le"), out[1].decode("utf-16-le")


def test_the_overview_has_every_version_and_no_text() -> None:
    view = overview_of(Run.replay(runs.release_notes()))
    assert [each["standing"] for each in view["versions"]] == [
        "accepted",
        "accepted",
        "refused",
        "stands",
    ]
    assert view["champion"] == 3
    assert view["title"] == "Release notes, version 4.2"
    scores = [each["score"] for each in view["versions"]]
    assert scores[0] is not None
    assert scores[3] is not None
    assert scores[0] < scores[3] <= 1
    assert "Please update as soon as possible" not in to_json(view).decode()


def test_hunks_are_lengths_of_both_texts() -> None:
    run = Run.replay(runs.release_notes())
    version = version_of(run, 3)
    comparisons: dict[str, Data] = version["comparisons"]
    for name, comparison in comparisons.items():
        place: int = comparison["base"]
        base = run.thoughts[place].text
        assert applied(base, version, name) == (base, version["text"])
    hunks = comparisons["input"]["hunks"]
    assert {version["whys"][why]["source"] for *_, why in hunks if why >= 0}


def test_lengths_count_utf_16_units() -> None:
    told = [("a 😀 b and 🦥🦥 c", True, ""), ("a 😀😀 b and 🦥 d", True, "better")]
    run = Run.replay(runs.entries(told, end=runs.DONE, run_id="run_0000000000000000"))
    version = version_of(run, 1)
    assert applied(run.thoughts[0].text, version, "input") == (told[0][0], told[1][0])
    assert [Units("a😀b").at(n) for n in range(4)] == [0, 1, 3, 4]


def test_a_run_without_a_version_has_a_view() -> None:
    run = Run.replay(runs.release_notes(end=None)[:1])
    view = overview_of(run)
    assert (view["versions"], view["champion"], view["status"]) == ([], None, "running")
    with pytest.raises(IndexError):
        version_of(run, 0)


def test_every_moment_of_a_run_has_a_view() -> None:
    told = runs.release_notes(end=runs.WAITING)
    for count in range(1, len(told) + 1):
        view = overview_of(Run.replay(told[:count]))
        assert view["entries"] == count
        assert (view["brief"] is not None) == (count == len(told))


@pytest.mark.parametrize("door", ["file", "web", "app"])
def test_a_page_is_one_document_with_a_strict_policy(door: Door) -> None:
    made = page(door)
    assert len(made.html.encode()) <= 110_000
    found = re.search(r'Content-Security-Policy" content="([^"]+)"', made.html)
    assert found
    assert unescape(found[1]) == made.policy
    assert "unsafe" not in made.policy
    assert not re.search(
        r"\bon\w+=|\bstyle=|javascript:|https?://(?!www\.w3\.org/2000/svg)", made.html
    )
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", made.html
    )


def test_a_file_holds_the_run_and_nothing_that_ends_its_elements() -> None:
    told = runs.hostile(["</script><script>alert(1)</script><!--"], "run_0000000000000000")
    html = page_of(Run.replay(told)).html
    blocks = re.findall(r'<script type="application/json" id="([\w-]+)">(.*?)</script>', html)
    assert [name for name, _ in blocks] == ["run", "version-0", "version-1"]
    assert "</script><script>alert(1)" in json.loads(blocks[1][1])["text"]
    assert html.count("<script") == 4


def test_the_command_writes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path))
    assert command(["improve", str(TEXT), "--max-words", "330"]) in (0, 1)
    target = tmp_path / "run.html"
    capsys.readouterr()
    assert command(["view", "--html", str(target)]) == 0
    assert capsys.readouterr().out.strip() == str(target)
    assert '<script type="application/json" id="run">{"run_id":"run_' in target.read_text()
    assert command(["view", "run_0000000000000000", "--html", str(target)]) == 2


@pytest.mark.parametrize(
    ("original", "revised", "changed"),
    [
        (
            "They don’t utilize it on a day like this, don't they?",
            "They do not use it on a day like this, do they?",
            [("don’t utilize", "do not use"), ("don't", "do")],
        ),
        ("It costs 40,000 crowns.", "It costs 400,000 crowns.", [("40,000", "400,000")]),
        ("It costs 40,000, or 3.", "It costs 40,500, or 3.", [("40,000", "40,500")]),
        ("Since 1.2.3 it works.", "Since 1.2.4 it works.", [("1.2.3", "1.2.4")]),
        ("In 2019, 5 came.", "In 2020, 5 came.", [("2019", "2020")]),
    ],
)
def test_no_word_or_number_is_split(
    original: str, revised: str, changed: list[tuple[str, str]]
) -> None:
    told = [(original, True, ""), (revised, True, "")]
    run = Run.replay(runs.entries(told, end=runs.DONE, run_id="run_0000000000000000"))
    version, (before, after) = version_of(run, 1), (told[0][0], told[1][0])
    at, words = [0, 0], list[tuple[str, str]]()
    for op, gone, come, _ in version["comparisons"]["input"]["hunks"]:
        old, new = before[at[0] : at[0] + gone], after[at[1] : at[1] + come]
        at = [at[0] + gone, at[1] + come]
        words += [] if op == "=" else [(old, new)]
    assert words == changed


@pytest.mark.slow
def test_a_late_version_of_a_long_run_costs_a_few_comparisons() -> None:
    run = Run.replay(runs.long_run())
    first, last = run.thoughts[0], run.thoughts[49]
    assert len(last.history) > 40
    one = seconds(lambda: diff(first.text, last.text))
    assert seconds(lambda: version_of(run, 49)) < 15 * one


def test_a_place_that_every_version_changes_is_followed_back_at_once() -> None:
    run = Run.replay(runs.hostile(list(payloads()), "run_0000000000000000"))
    assert seconds(lambda: version_of(run, len(run.thoughts) - 1)) < 5
