"""What holds for the page on a server and inside a host of either era, as it does for a file."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Frame, Locator, expect

from sifaka_mcp.settings import Settings
from tests.stubs.served import served
from tests.ui import runs
from tests.ui.browser import Shelf, Tab
from tests.ui.checks import HARMLESS, WATCH, faults, harm
from tests.ui.host import hosted
from tests.ui.payloads import payloads

pytestmark = pytest.mark.browser
Door = Literal["web", "auto", "legacy"]
Open = Callable[[str], Frame]
RUN = "run_00000000release"
TOGETHER = 20
"""Payloads in one run."""
REACHABLE = 'button, a[href], select, [tabindex="0"]'
MOST = 150
"""Times that Tab is pressed for one button, more often than there are places for the focus."""


@pytest.fixture(params=["web", "auto", "legacy"])
def door(request: pytest.FixtureRequest) -> Door:
    return request.param


@contextmanager
def entrance(
    door: Door, tab: Tab, shelf: Shelf, home: Path, scheme: str = "light", mode: str = "fullscreen"
) -> Generator[Open]:
    """Opens runs by a door; each call gives the frame that shows one.

    `mode` is the display mode of a host.
    """
    if door == "web":
        with served(home, store=shelf.url) as url:

            def open_page(run_id: str) -> Frame:
                tab.page.goto(url.replace("/mcp", f"/runs/{run_id}"))
                return tab.page.main_frame

            yield open_page
        return
    context = {"theme": scheme, "displayMode": mode}
    with hosted(tab, Settings(home=home, store=shelf.url), door, context=context) as host:

        def open_app(run_id: str) -> Frame:
            tab.page.goto("http://host.test/")
            result = host.call("get_thought_history", run_id=run_id)
            host.show("get_thought_history", result, run_id=run_id)
            expect(host.app.locator(".reading")).to_be_visible()
            return tab.page.frames[-1]

        yield open_app


@pytest.mark.timeout(600)
def test_hostile_texts_stay_text_everywhere(
    tab: Tab, shelf: Shelf, tmp_path: Path, door: Door
) -> None:
    hostile = list(dict.fromkeys(payloads()))
    assert len(hostile) >= 200
    tab.page.add_init_script(WATCH)
    with entrance(door, tab, shelf, tmp_path) as open_run:
        for first in range(0, len(hostile), TOGETHER):
            some, run_id = hostile[first : first + TOGETHER], f"run_{first:016x}"
            shelf.put(runs.hostile(some, run_id))
            frame = open_run(run_id)
            for place in range(len(some), 0, -1):
                expect(frame.locator("[aria-current=true] .v")).to_have_text(f"v{place}")
                expect(frame.locator(".reading")).to_contain_text("again")
                assert harm(frame) == HARMLESS, some[place - 1]
                frame.locator(".versions button").nth(place - 1).press("Enter")
    hosts = {each.url.split("/")[2].split(":")[0] for each in tab.requests}
    assert hosts <= {"127.0.0.1", "host.test", "sandbox.test"}
    assert tab.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_door(
    tabs: Callable[..., Tab], shelf: Shelf, tmp_path: Path, door: Door, scheme: str
) -> None:
    tab = tabs(color_scheme=scheme)
    shelf.put(runs.release_notes(end=runs.WAITING))
    with entrance(door, tab, shelf, tmp_path, scheme) as open_run:
        frame = open_run(RUN)
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
    shelf.put(runs.release_notes())
    keys = tab.page.keyboard
    with entrance(door, tab, shelf, tmp_path, mode="inline") as open_run:
        frame = open_run(RUN)
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
