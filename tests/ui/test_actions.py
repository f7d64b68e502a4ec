"""What a person does on the page: through tools, with the rights of the token."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import expect

from sifaka.record.run import Run
from sifaka_mcp.settings import Settings
from tests.stubs.served import grant_token, served
from tests.stubs.servers import Era
from tests.ui import runs
from tests.ui.browser import Shelf, Tab
from tests.ui.host import hosted

pytestmark = pytest.mark.browser
RUN = "run_00000000release"


def stored(shelf: Shelf, run_id: str = RUN) -> Run:
    async def load() -> Run:
        async with shelf.opened() as store:
            return await store.load(run_id)

    with start_blocking_portal() as portal:
        return portal.call(load)


@pytest.fixture
def opened(tab: Tab, shelf: Shelf, tmp_path: Path) -> Generator[Tab]:
    """The page of a finished run on a server that asks for no token."""
    shelf.put(runs.release_notes())
    with served(tmp_path, store=shelf.url) as url:
        tab.page.goto(url.replace("/mcp", f"/runs/{RUN}"))
        expect(tab.page.locator(".why-card").first).to_be_visible()
        yield tab
        assert tab.errors == []


def test_a_change_is_undone_as_a_version_of_a_person(opened: Tab, shelf: Shelf) -> None:
    opened.page.get_by_role("button", name="Undo: change 3").click()
    expect(opened.page.locator(".story")).to_contain_text("Version 4 is the")
    expect(opened.page.locator("[aria-current=true] .by")).to_contain_text("person")
    champion = stored(shelf).champion
    assert champion is not None
    assert champion.author == "person"
    assert champion.text == runs.FOURTH.replace(
        "It takes 2 GB files", "It is able to process files of up to 2 GB in size"
    )
    assert stored(shelf).decisions[champion.id].reason.startswith("a person said so")


def test_all_changes_of_a_kind_are_undone(opened: Tab, shelf: Shelf) -> None:
    shorter = runs.edited(
        runs.ORIGINAL,
        ("our world-class export", "our export"),
        ("In order to utilize", "To use"),
        ("Due to the fact that", "Because"),
    )
    told = [(runs.ORIGINAL, True, "the input"), (shorter, True, "shorter")]
    shelf.put(runs.entries(told, end=runs.DONE, run_id="run_0000000000kinds"))
    opened.page.goto(opened.page.url.replace(RUN, "run_0000000000kinds"))
    opened.page.get_by_label("Kind of change").select_option("wordiness")
    opened.page.get_by_role("button", name="Undo all of this kind").click()
    expect(opened.page.locator(".story")).to_contain_text("Version 2 is the")
    champion = stored(shelf, "run_0000000000kinds").champion
    assert champion is not None
    assert champion.text == runs.edited(runs.ORIGINAL, ("our world-class export", "our export"))


def test_an_earlier_version_is_used_by_keyboard_alone(opened: Tab, shelf: Shelf) -> None:
    keys = opened.page.keyboard
    keys.press("[")
    expect(opened.page.locator("[aria-current=true] .v")).to_have_text("v2")
    opened.page.get_by_role("button", name="Use version 2").focus()
    keys.press("Enter")
    expect(opened.page.locator(".story")).to_contain_text("Version 2 is the")
    run = stored(shelf)
    assert run.champion_id == f"{RUN}.2"
    assert "although it breaks facts" in run.decisions[f"{RUN}.2"].reason


def test_the_text_is_edited_in_place(opened: Tab, shelf: Shelf) -> None:
    opened.page.get_by_role("button", name="Edit").click()
    area = opened.page.get_by_label("Text of version 3")
    expect(area).to_be_focused()
    area.fill("The export is here.")
    opened.page.get_by_role("button", name="Save as my version").click()
    expect(opened.page.locator(".story")).to_contain_text("Version 4 is the")
    champion = stored(shelf).champion
    assert champion is not None
    assert (champion.author, champion.text) == ("person", "The export is here.")


def test_what_is_left_is_declined_with_a_reason(opened: Tab, shelf: Shelf) -> None:
    opened.page.get_by_role("button", name="Decline what is left").click()
    opened.page.get_by_role("textbox", name="Reason").fill("Marketing wants it so.")
    opened.page.get_by_role("button", name="Decline", exact=True).click()
    expect(opened.page.get_by_text("Declined by a person")).to_contain_text(
        "Marketing wants it so."
    )
    assert stored(shelf).declined == {f"{RUN}.3": "Marketing wants it so."}


def test_one_issue_is_declined_with_a_reason(opened: Tab, shelf: Shelf) -> None:
    opened.page.keyboard.press("t")
    opened.page.get_by_role("button", name="Decline: issue 1").click()
    opened.page.get_by_role("textbox", name="Reason").fill("Measured last week.")
    opened.page.get_by_role("button", name="Decline", exact=True).click()
    expect(opened.page.locator(".why-card")).to_contain_text("declined Measured last week.")
    expect(opened.page.get_by_role("button", name="Decline: issue 1")).to_have_count(0)
    run = stored(shelf)
    assert [(each.reason, each.issue and each.issue.message) for each in run.declined_issues] == [
        ("Measured last week.", "Name a measurement.")
    ]
    assert (run.champion_id, len(run.thoughts)) == (f"{RUN}.3", 4)


def test_another_run_tries_harder(opened: Tab, shelf: Shelf) -> None:
    opened.page.get_by_role("button", name="Try harder").click()
    expect(opened.page.locator(".crumb code")).not_to_have_text(RUN)
    shown = opened.page.locator(".crumb code").text_content()
    assert shown is not None
    assert stored(shelf, shown).thoughts[0].text == runs.FOURTH


def test_a_run_is_stopped(tab: Tab, shelf: Shelf, tmp_path: Path) -> None:
    shelf.put(runs.release_notes()[:8])
    with served(tmp_path, store=shelf.url) as url:
        tab.page.goto(url.replace("/mcp", f"/runs/{RUN}"))
        tab.page.get_by_role("button", name="Stop").click()
        expect(tab.page.locator(".crumb .pill")).to_have_text("stopped")
    assert stored(shelf).status == "cancelled"


def test_a_token_for_reading_changes_nothing(tab: Tab, shelf: Shelf, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    token = grant_token(tokens, "default", scopes=("sifaka:read",))
    shelf.put(runs.release_notes())
    with served(tmp_path, store=shelf.url, auth_tokens_file=tokens) as url:
        tab.page.goto(url.replace("/mcp", f"/runs/{RUN}"))
        tab.page.get_by_label("Token").fill(token)
        tab.page.keyboard.press("Enter")
        tab.page.get_by_role("button", name="Undo: change 3").click()
        expect(tab.page.get_by_role("alert")).to_contain_text("reading only")
    assert stored(shelf).champion_id == f"{RUN}.3"


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_change_is_undone_inside_a_host(tab: Tab, shelf: Shelf, tmp_path: Path, era: Era) -> None:
    shelf.put(runs.release_notes())
    settings = Settings(home=tmp_path, store=shelf.url)
    with hosted(tab, settings, era, context={"displayMode": "fullscreen"}) as host:
        host.show("get_thought_history", host.call("get_thought_history", run_id=RUN), run_id=RUN)
        host.click(host.app.get_by_role("button", name="Undo: change 3"))
        expect(host.app.locator(".story")).to_contain_text("Version 4 is the")
    champion = stored(shelf).champion
    assert champion is not None
    assert champion.author == "person"


def test_a_file_offers_nothing_that_it_cannot_do(tab: Tab, as_file: Callable[..., str]) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    expect(tab.page.locator(".why-card").first).to_be_visible()
    for name in ("Undo", "Edit", "Try harder", "Decline what is left"):
        expect(tab.page.get_by_role("button", name=name)).to_have_count(0)


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_difference_is_accepted_with_a_reason(
    tab: Tab, shelf: Shelf, tmp_path: Path, era: Era
) -> None:
    text = "Our new export is here. It was used by 40,000 teams in the beta of 2025."
    with hosted(
        tab,
        Settings(home=tmp_path, store=shelf.url),
        era,
        context={"displayMode": "fullscreen"},
    ) as host:
        made = host.call("improve_text", text=text, model="caller", prompt="Say it better.")
        assert made.structured_content is not None
        run_id = made.structured_content["run_id"]
        parent = made.structured_content["brief"]["parent_id"]
        changed = text.replace("40,000", "45,000")
        host.call("submit_revision", run_id=run_id, parent_id=parent, text=changed)
        host.show("get_thought_history", host.call("get_thought_history", run_id=run_id))
        host.click(host.app.locator(".versions button").nth(1))
        expect(host.app.get_by_text("open", exact=True)).to_have_count(1)
        host.click(host.app.get_by_role("button", name="Accept this difference"))
        dialog = host.app.get_by_role("dialog")
        expect(dialog).to_contain_text("40,000 → 45,000")
        dialog.get_by_role("textbox", name="Reason").fill("Counted again.")
        host.click(dialog.get_by_role("button", name="Accept", exact=True))
        expect(host.app.get_by_text("accepted", exact=True)).to_have_count(1)
        expect(host.app.get_by_role("button", name="Accept")).to_have_count(0)
    champion = stored(shelf, run_id).champion
    assert champion is not None
    assert champion.text == changed
    assert [(each.status, each.reason) for each in champion.findings.differences] == [
        ("accepted", "Counted again.")
    ]
