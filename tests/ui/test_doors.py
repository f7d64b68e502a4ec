"""What holds for the page on a server and inside a host, as it does for a file.

The page is one in both eras of the protocol, which `test_app.py` and `test_actions.py` compare.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Frame, Locator, expect

from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka_mcp.settings import Settings
from sifaka_mcp.ui.pages import page_of
from tests.stubs.served import served
from tests.ui import runs
from tests.ui.browser import Shelf, Tab
from tests.ui.checks import HARMLESS, WATCH, faults, harm_of_versions
from tests.ui.host import hosted
from tests.ui.payloads import payloads

pytestmark = pytest.mark.browser
Door = Literal["file", "web", "auto"]
Open = Callable[[list[Entry]], Frame]
RUN = "run_00000000release"
TOGETHER = 5
"""Payloads in one run: the more versions it has, the longer it takes to draw each."""
REACHABLE = 'button, a[href], select, [tabindex="0"]'
MOST = 150
"""Times that Tab is pressed for one button, more often than there are places for the focus."""


@pytest.fixture(params=["web", "auto"])
def door(request: pytest.FixtureRequest) -> Door:
    return request.param


@contextmanager
def entrance(
    door: Door, tab: Tab, shelf: Shelf, home: Path, scheme: str = "light", mode: str = "fullscreen"
) -> Generator[Open]:
    """Stores runs and opens them by a door; each call gives the frame that shows one.

    `mode` is the display mode of a host.
    """
    if door == "file":

        def open_file(told: list[Entry]) -> Frame:
            target = home / "run.html"
            target.write_text(page_of(Run.replay(told)).html, encoding="utf-8")
            tab.page.goto("about:blank")
            tab.page.goto(target.as_uri())
            return tab.page.main_frame

        yield open_file
        return
    if door == "web":
        with served(home, store=shelf.url) as url:

            def open_page(told: list[Entry]) -> Frame:
                tab.page.goto(url.replace("/mcp", f"/runs/{shelf.put(told).run_id}"))
                return tab.page.main_frame

            yield open_page
        return
    context = {"theme": scheme, "displayMode": mode}
    with hosted(tab, Settings(home=home, store=shelf.url), door, context=context) as host:

        def open_app(told: list[Entry]) -> Frame:
            tab.page.goto("http://host.test/")
            run_id = shelf.put(told).run_id
            result = host.call("get_thought_history", run_id=run_id)
            host.show("get_thought_history", result, run_id=run_id)
            expect(host.app.locator(".reading")).to_be_visible()
            return tab.page.frames[-1]

        yield open_app


@pytest.mark.timeout(300)
@pytest.mark.parametrize("door", ["file", "web", "auto"])
def test_hostile_texts_stay_text(tab: Tab, shelf: Shelf, tmp_path: Path, door: Door) -> None:
    hostile = list(dict.fromkeys(payloads()))
    assert len(hostile) >= 200
    tab.page.add_init_script(WATCH)
    with entrance(door, tab, shelf, tmp_path) as open_run:
        for first in range(0, len(hostile), TOGETHER):
            some = hostile[first : first + TOGETHER]
            frame = open_run(runs.hostile(some, f"run_{first:016x}"))
            expect(frame.locator(".reading")).to_contain_text("again")
            # A file has the data of the run and of each version in scripts that are none.
            expected = {**HARMLESS, "scripts": len(some) + 3 if door == "file" else 1}
            views = "trd" if door == "file" else ""
            looks = (len(some) + 1) * (1 + len(views)) + 1
            assert harm_of_versions(frame, views) == [expected] * looks, some
    hosts = {each.url.split("/")[2].split(":")[0] for each in tab.requests}
    assert hosts <= ({""} if door == "file" else {"127.0.0.1", "host.test", "sandbox.test"})
    assert tab.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_door(
    tabs: Callable[..., Tab], shelf: Shelf, tmp_path: Path, door: Door, scheme: str
) -> None:
    tab = tabs(color_scheme=scheme)
    with entrance(door, tab, shelf, tmp_path, scheme) as open_run:
        frame = open_run(runs.release_notes(end=runs.WAITING))
        expect(frame.locator(".why-card")).not_to_have_count(0)
        expect(frame.locator("html")).to_have_attribute("data-theme", scheme)
        for width in (390, 760, 1400):
            tab.page.set_viewport_size({"width": width, "height": 900})
            expect(frame.locator(".aligned")).to_have_count(int(width == 1400))
            assert faults(frame) == [], width
            assert frame.evaluate("document.documentElement.scrollWidth") <= width
        frame.get_by_role("button", name="Text", exact=True).click()
        frame.get_by_role("button", name="Decline: issue 1").click()
        assert faults(frame) == [], "the question for a reason"
        frame.get_by_role("button", name="Cancel").click()
        frame.get_by_role("button", name="Edit").click()
        assert faults(frame) == [], "the text that is edited"
    assert tab.errors == []


def reach(tab: Tab, target: Locator) -> None:
    """Press Tab until the focus is there, from wherever it is."""
    expect(target).to_be_enabled()
    for _ in range(MOST):
        if target.evaluate("(each) => each === document.activeElement && document.hasFocus()"):
            return
        tab.page.keyboard.press("Tab")
    pytest.fail(f"{target} is not reached by Tab")


def walk(tab: Tab, frame: Frame) -> None:
    """Press Tab until it has been everywhere, the page around a frame included."""
    wanted = frame.locator(REACHABLE).evaluate_all(
        "(all) => all.filter((each) => each.offsetParent).length"
    )
    frame.evaluate("window.met = new Set()")
    for _ in range(wanted + 4):
        tab.page.keyboard.press("Tab")
        frame.evaluate(
            "(all) => document.hasFocus() && document.activeElement.matches(all)"
            " && met.add(document.activeElement)",
            REACHABLE,
        )
    assert frame.evaluate("met.size") == wanted


@pytest.mark.timeout(400)
def test_the_keyboard_does_everything(tab: Tab, shelf: Shelf, tmp_path: Path, door: Door) -> None:
    keys = tab.page.keyboard
    with entrance(door, tab, shelf, tmp_path, mode="inline") as open_run:
        frame = open_run(runs.release_notes())
        story = frame.locator(".story")
        expect(frame.locator(".why-card")).not_to_have_count(0)

        def press(name: str) -> None:
            reach(tab, frame.get_by_role("button", name=name, exact=True))
            keys.press("Enter")

        if door != "web":
            press("Full screen")
        expect(frame.get_by_role("heading", name="Critics")).to_be_visible()
        walk(tab, frame)
        reach(tab, frame.get_by_role("button", name="Edit"))
        for key, number in (("j", 1), ("j", 2), ("k", 1)):
            keys.press(key)
            expect(frame.locator(f"#n{number}")).to_be_focused()
        keys.press("t")
        expect(frame.locator("mark")).to_have_count(1)
        press("Decline: issue 1")
        reason = frame.get_by_role("textbox", name="Reason")
        expect(reason).to_be_focused()
        keys.press("Tab")
        keys.press("Enter")
        expect(frame.locator("dialog")).to_contain_text("Say a reason.")
        expect(reason).to_be_focused()
        keys.type("Measured.")
        keys.press("Tab")
        keys.press("Enter")
        expect(frame.locator(".why-card")).to_contain_text("declined Measured.")
        press("Diff")
        press("Undo: change 3")
        expect(story).to_contain_text("Version 4 is the")
        keys.press("[")
        expect(frame.locator("[aria-current=true] .v")).to_have_text("v3")
        press("Use version 3")
        expect(story).to_contain_text("Version 3 is the")
        reach(tab, frame.get_by_label("Kind of change"))
        keys.press("ArrowDown")
        press("Undo all of this kind")
        expect(story).to_contain_text("Version 5 is the")
        press("Edit")
        expect(frame.locator(".edit")).to_be_focused()
        keys.press("Control+a")
        keys.type("Export is here.")
        keys.press("Tab")
        keys.press("Enter")
        expect(story).to_contain_text("Version 6 is the")
        press("Try harder")
        expect(frame.locator(".crumb code")).not_to_have_text(RUN)
    assert tab.errors == []
