"""Any two versions of a run compared on the page, and two runs."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from sifaka.record.entries import Entry
from sifaka.record.run import Run
from tests.stubs.served import served
from tests.ui import runs
from tests.ui.browser import Gate, Shelf, Tab
from tests.ui.checks import faults

pytestmark = pytest.mark.browser
Written = Callable[[list[Entry]], str]
RUN = "run_00000000release"
OTHER = "run_0000000000other"
TEXTS = tuple(text for text, *_ in runs.RELEASE)


def sides(page: Page) -> list[str]:
    """Both texts of a diff, put together from what is shown."""
    expect(page.locator(".reading")).to_be_visible()
    told: list[str] = page.evaluate(
        "['ins', 'del'].map((left) => [...document.querySelectorAll('.reading .block')].map("
        "(each) => { const copy = each.cloneNode(true); copy.querySelectorAll(`${left}, button`)"
        ".forEach((n) => n.remove()); return copy.textContent; }).join(''))"
    )
    return told


@pytest.mark.parametrize(
    ("before", "after"), [(b, a) for b in range(4) for a in range(4) if a != b]
)
def test_any_two_versions_are_compared(tab: Tab, as_file: Written, before: int, after: int) -> None:
    tab.page.goto(f"{as_file(runs.release_notes())}#version={after}&against={before}")
    assert sides(tab.page) == [TEXTS[before], TEXTS[after]]
    kept: int = tab.page.evaluate(
        "[...document.querySelectorAll('.reading .block')].flatMap((each) => [...each.childNodes])"
        ".filter((each) => each.nodeType === 3).reduce((sum, each) => sum + each.length, 0)"
    )
    assert kept >= 0.4 * min(map(len, TEXTS)), "what both texts have is not shown as changed"
    assert tab.errors == []


def test_what_two_versions_have_in_common_is_no_change(tab: Tab, as_file: Written) -> None:
    tab.page.goto(f"{as_file(runs.release_notes())}#version=3&against=2")
    expect(tab.page.locator(".reading del").first).to_have_text("400,000")
    expect(tab.page.locator(".reading ins").first).to_have_text("40,000")
    expect(tab.page.locator(".reading ins")).to_have_count(3)


def test_the_address_keeps_what_a_version_is_compared_with(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    expect(tab.page.get_by_label("against").locator("option")).to_have_text(
        ["the input", "v1, its parent", "v2"]
    )
    tab.page.get_by_label("against").select_option("v2")
    expect(tab.page).to_have_url(re.compile("#against=2$"))
    tab.page.reload()
    expect(tab.page.get_by_label("against")).to_have_value("v2")
    tab.page.get_by_label("against").select_option("the input")
    expect(tab.page).to_have_url(re.compile(r"\.html$"))


def test_a_version_that_is_far_away_is_compared_by_way_of_the_input(
    tab: Tab, as_file: Written
) -> None:
    told = runs.long_run(versions=16, words=660)
    tab.page.goto(f"{as_file(told)}#version=15&against=1")
    texts = [each.text for each in Run.replay(told).thoughts]
    assert sides(tab.page) == [texts[1], texts[15]]


def test_a_sentence_that_was_written_anew_stands_whole(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    assert sides(tab.page) == [runs.ORIGINAL, runs.FOURTH]
    expect(tab.page.locator(".reading del")).to_have_text(
        [
            "We are very excited to announce that our world-class export feature is finally here.",
            "In order to utilize it, you need to have a Pro plan at this point in time.",
            "is able to process files of up to 2 GB in size",
            "Due to the fact that older clients do not know the new format, they will see an"
            " error.",
        ]
    )
    expect(tab.page.locator(".reading ins").nth(1)).to_have_text("You need a Pro plan to use it.")
    card = tab.page.locator("#why2")
    expect(card.locator(".msg")).to_have_text("`To use` says the same. +1")
    expect(card.locator(".further")).to_be_hidden()
    tab.page.keyboard.press("j")
    tab.page.keyboard.press("j")
    expect(card.locator(".further")).to_have_text("`Now`, or nothing.")


def test_a_sentence_with_a_few_other_words_is_not_torn_out(tab: Tab, as_file: Written) -> None:
    before = "One. The quick brown fox jumps over the lazy dog and the cat. Three."
    after = "One. The slow brown fox jumps over the lazy dog and the cow. Three."
    told = [(before, True, ""), (after, True, "better")]
    tab.page.goto(as_file(runs.entries(told, end=runs.DONE, run_id=OTHER)))
    assert sides(tab.page) == [before, after]
    expect(tab.page.locator(".reading del")).to_have_text(["quick", "cat"])


def another(text: str, original: str = runs.ORIGINAL) -> list[Entry]:
    told = [(original, True, "the input"), (text, True, "better")]
    return runs.entries(told, end=runs.DONE, run_id=OTHER)


FASTER = runs.edited(runs.FOURTH, ("faster than anything else that is out there", "fast"))


def test_two_runs_are_chosen_in_the_list_and_compared(
    tab: Tab, shelf: Shelf, tmp_path: Path
) -> None:
    shelf.put(runs.release_notes())
    shelf.put(another(FASTER))
    with served(tmp_path, store=shelf.url) as url:
        tab.page.goto(url.replace("/mcp", "/runs"))
        tab.page.get_by_role("button", name=f"Compare run {OTHER}").click()
        expect(tab.page.get_by_role("status")).to_contain_text(OTHER)
        assert faults(tab.page) == []
        tab.page.get_by_role("button", name=f"Compare run {RUN}").click()
        assert sides(tab.page) == [FASTER, runs.FOURTH]
        expect(tab.page.locator(".reading del")).to_have_text(["fast"])
        expect(tab.page.locator("thead th")).to_have_text(["Rule", "the otherv1", "this runv3"])
        expect(tab.page.locator("tbody th")).to_contain_text(["score", "words", "length", "facts"])
        expect(tab.page.get_by_role("button", name="Undo")).to_have_count(0)
        assert faults(tab.page) == []
        assert tab.page.url.endswith(f"/runs/{RUN}#against={OTHER}")
        tab.page.get_by_role("button", name="Open the other run").click()
        assert sides(tab.page) == [runs.FOURTH, FASTER]
        assert tab.page.url.endswith(f"/runs/{OTHER}#against={RUN}")
    assert tab.errors == []


@pytest.mark.parametrize(
    ("original", "text", "gone"),
    [
        (runs.FOURTH, FASTER, ["fast"]),  # it went on from the result of this run
        (FASTER, runs.FOURTH, []),  # both have come to one text
        ("Another text.", "It is another.", ["It is another."]),
    ],
)
def test_a_run_of_another_text_is_compared(
    tab: Tab, shelf: Shelf, tmp_path: Path, original: str, text: str, gone: list[str]
) -> None:
    shelf.put(runs.release_notes())
    shelf.put(another(text, original))
    with served(tmp_path, store=shelf.url) as url:
        tab.page.goto(url.replace("/mcp", f"/runs/{RUN}?against={OTHER}"))
        assert sides(tab.page) == [text, runs.FOURTH]
        expect(tab.page.locator(".reading del")).to_have_text(gone)
        tab.page.keyboard.press("s")
        expect(tab.page.locator(".side h3")).to_have_text([f"Version 1 of {OTHER}", "Version 3"])


def test_a_run_that_is_not_there_is_said_to_be_missing(
    tab: Tab, shelf: Shelf, tmp_path: Path
) -> None:
    shelf.put(runs.release_notes())
    with served(tmp_path, store=shelf.url) as url:
        gate = Gate(tab.page, f"**/runs/{OTHER}*")
        gate.act = lambda route: route.fulfill(status=404, json={"error": "no such run"})
        tab.page.goto(url.replace("/mcp", f"/runs/{RUN}#against={OTHER}"))
        expect(tab.page.get_by_role("alert")).to_contain_text("no such run")
        gate.act = Route.continue_
        tab.page.get_by_role("button", name="Compare with the input").click()
        assert sides(tab.page) == [runs.ORIGINAL, runs.FOURTH]
