"""Versions that take long to come, or do not come: the page says so, and asks again."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from sifaka_mcp.settings import Settings
from tests.stubs.served import served
from tests.stubs.servers import Era
from tests.ui import runs
from tests.ui.browser import Gate, Shelf, Tab
from tests.ui.host import hosted

pytestmark = pytest.mark.browser
RUN = "run_00000000release"


@pytest.fixture
def address(shelf: Shelf, tmp_path: Path) -> Generator[str]:
    """Where a server shows a finished run."""
    shelf.put(runs.release_notes())
    with served(tmp_path, store=shelf.url) as url:
        yield url.replace("/mcp", f"/runs/{RUN}")


@pytest.fixture
def opened(tab: Tab, address: str) -> Tab:
    tab.page.goto(address)
    expect(tab.page.locator(".why-card").first).to_be_visible()
    return tab


@pytest.fixture
def held(tab: Tab) -> list[Route]:
    """The requests for version 2, which wait; to be named before `opened`."""
    waiting = list[Route]()
    Gate(tab.page, "**/versions/2").act = waiting.append
    return waiting


@pytest.fixture
def gate(tab: Tab) -> Gate:
    """What becomes of the requests about runs; to be named before `opened`."""
    return Gate(tab.page, "**/runs/**")


def test_a_version_that_takes_long_is_said_to_be_on_its_way(held: list[Route], opened: Tab) -> None:
    page = opened.page
    page.keyboard.press("[")
    expect(page.get_by_text("Opening version 2 …")).to_be_visible()
    expect(page.locator("[aria-current=true] .v")).to_have_text("v2")
    expect(page.locator(".reading")).to_have_count(0)
    expect(page.get_by_role("button", name="Edit")).to_be_disabled()
    page.keyboard.press("]")
    expect(page.locator("[aria-current=true] .v")).to_have_text("v3")
    for route in held:
        route.continue_()
    page.keyboard.press("[")
    expect(page.locator(".reading ins")).to_contain_text(["400"])
    expect(page.get_by_text("Opening version")).to_have_count(0)
    assert opened.errors == []


@pytest.mark.parametrize("pressed", ["mouse", "space"])
def test_a_press_is_not_lost_when_a_text_comes(
    held: list[Route], opened: Tab, pressed: str
) -> None:
    page = opened.page
    page.keyboard.press("[")
    expect(page.get_by_text("Opening version 2 …")).to_be_visible()
    first = page.locator(".versions button").first
    if pressed == "mouse":
        first.hover()
        page.mouse.down()
    else:
        first.focus()
        page.keyboard.down("Space")
    with page.expect_response("**/versions/2"):
        for route in held:
            route.continue_()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    expect(page.get_by_text("Opening version 2 …")).to_be_visible()
    if pressed == "mouse":
        page.mouse.up()
    else:
        page.keyboard.up("Space")
    expect(page.locator("[aria-current=true] .v")).to_have_text("v0")
    expect(page.get_by_text("Opening version")).to_have_count(0)
    assert opened.errors == []


def test_a_text_is_not_compared_before_the_other_one_is_there(tab: Tab, address: str) -> None:
    held = list[Route]()
    Gate(tab.page, "**/versions/0").act = held.append
    tab.page.goto(address)
    expect(tab.page.get_by_text("Opening version 3 …")).to_be_visible()
    expect(tab.page.locator(".versions li")).to_have_count(4)
    expect(tab.page.locator("del")).to_have_count(0)
    tab.page.keyboard.press("t")
    expect(tab.page.locator(".reading")).to_contain_text("Pro plan")
    tab.page.keyboard.press("d")
    expect(tab.page.get_by_text("Opening version 3 …")).to_be_visible()
    for route in held:
        route.continue_()
    expect(tab.page.locator("del")).not_to_have_count(0)
    assert tab.errors == []


def test_a_version_that_is_refused_is_told_and_asked_for_again(gate: Gate, opened: Tab) -> None:
    page = opened.page
    gate.act = lambda route: route.fulfill(status=404, json={"error": "gone"})
    page.keyboard.press("[")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Version 2 did not open. gone")
    gate.act = Route.continue_
    alert.get_by_role("button", name="Try again").press("Enter")
    expect(page.locator(".reading ins")).to_contain_text(["400"])
    expect(alert).to_have_count(0)


def test_a_version_that_was_lost_with_the_connection_comes_with_it(gate: Gate, opened: Tab) -> None:
    page = opened.page
    gate.act = Route.abort
    page.keyboard.press("[")
    expect(page.get_by_role("alert")).to_contain_text(
        "Version 2 did not open. The server does not answer."
    )
    expect(page.locator(".banner").first).to_contain_text("Connection lost")
    gate.act = Route.continue_
    expect(page.locator(".reading ins")).to_contain_text(["400"])
    expect(page.locator(".banner.good")).to_contain_text("Connected again")


def test_a_run_whose_text_does_not_come_at_first_opens_later(tab: Tab, address: str) -> None:
    gate = Gate(tab.page, "**/versions/*")
    gate.act = Route.abort
    tab.page.goto(address)
    expect(tab.page.get_by_role("alert")).to_contain_text("Version 3 did not open.")
    gate.act = Route.continue_
    expect(tab.page.locator(".reading")).to_contain_text("Pro plan")


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_version_that_a_host_does_not_bring_is_asked_for_again(
    tab: Tab, shelf: Shelf, tmp_path: Path, era: Era
) -> None:
    shelf.put(runs.release_notes())
    context = {"displayMode": "fullscreen"}
    with hosted(tab, Settings(home=tmp_path, store=shelf.url), era, context=context) as host:
        host.show("get_thought_history", host.call("get_thought_history", run_id=RUN), run_id=RUN)
        expect(host.app.locator(".reading")).to_contain_text("Pro plan")
        host.is_silent = True
        host.click(host.app.locator(".versions button").nth(2))
        alert = host.app.get_by_role("alert")
        expect(alert).to_contain_text("Version 2 did not open. the server is away")
        host.is_silent = False
        host.click(alert.get_by_role("button", name="Try again"))
        expect(host.app.locator(".reading ins")).to_contain_text(["400"])
        expect(alert).to_have_count(0)
    assert tab.errors == []
