"""The page inside a host of MCP Apps, in both protocol eras."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.extension import ClientExtension
from mcp_types import TextContent, TextResourceContents
from playwright.sync_api import expect

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import TOOLSETS, Settings
from sifaka_mcp.ui.apps import CHOICE, MIME_TYPE, URI, VIEW
from tests.stubs.servers import Era
from tests.ui import runs
from tests.ui.browser import Shelf, Tab
from tests.ui.host import hosted

RUN = "run_00000000release"
SHOWN = {
    "improve_text",
    "submit_revision",
    "resume_run",
    "get_thought_history",
    "verify_evidence",
    "research",
}


@pytest.fixture(params=["auto", "legacy"])
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


@pytest.mark.anyio
async def test_tools_name_the_page_and_the_server_the_extension(tmp_path: Path, era: Era) -> None:
    server = SifakaServer(Settings(home=tmp_path, toolsets=tuple(TOOLSETS)))
    async with Client(server, mode=era) as client:
        listed = (await client.list_tools()).tools
        assert {each.name for each in listed if each.meta} == SHOWN
        assert all(each.meta == {"ui": {"resourceUri": URI}} for each in listed if each.meta)
        capabilities = client.server_capabilities
        assert capabilities.extensions is not None
        assert capabilities.extensions["io.modelcontextprotocol/ui"] == {}
        (content,) = (await client.read_resource(URI)).contents
        assert isinstance(content, TextResourceContents)
        assert content.mime_type == "text/html;profile=mcp-app"
        assert content.meta == {"ui": {"prefersBorder": False}}
        assert content.text.startswith("<!doctype html>")


@pytest.mark.anyio
async def test_the_view_is_in_resources_and_the_history(tmp_path: Path, era: Era) -> None:
    async with Client(SifakaServer(Settings(home=tmp_path)), mode=era) as client:
        made = await client.call_tool(
            "improve_text", {"text": "This is the the first version.", "model": "editor"}
        )
        assert made.structured_content is not None
        assert made.meta is None or VIEW not in made.meta
        run_id = made.structured_content["run_id"]
        (content,) = (await client.read_resource(f"run://{run_id}/view")).contents
        assert isinstance(content, TextResourceContents)
        view = json.loads(content.text)
        assert (view["run_id"], view["champion"]) == (run_id, 1)
        (content,) = (await client.read_resource(f"run://{run_id}/view/1")).contents
        assert isinstance(content, TextResourceContents)
        version = json.loads(content.text)
        assert version["text"] == "This is the first version."
        told = await client.call_tool("get_thought_history", {"run_id": run_id, "limit": 1})
        assert told.meta is not None
        assert told.meta[VIEW]["run"] == view
        assert told.meta[VIEW]["versions"]["1"] == version
        (text,) = told.content
        assert isinstance(text, TextContent)
        assert "sifaka/view" not in text.text
        listed = await client.call_tool("get_thought_history", {})
        assert listed.meta is None or VIEW not in listed.meta


class ShowsApps(ClientExtension):
    """What a host says of itself that shows pages."""

    identifier = "io.modelcontextprotocol/ui"

    def settings(self) -> dict[str, Any]:
        return {"mimeTypes": [MIME_TYPE]}


@pytest.mark.anyio
async def test_the_tool_of_the_buttons_is_listed_for_apps_alone(tmp_path: Path, era: Era) -> None:
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, mode=era) as plain:
        assert CHOICE not in [each.name for each in (await plain.list_tools()).tools]
    server = SifakaServer(Settings(home=tmp_path))
    async with Client(server, mode=era, extensions=[ShowsApps()]) as host:
        (tool,) = (each for each in (await host.list_tools()).tools if each.name == CHOICE)
        assert tool.meta == {"ui": {"visibility": ["app"]}}
        made = await host.call_tool("improve_text", {"text": "This is the the first version."})
        assert made.structured_content is not None
        run_id = made.structured_content["run_id"]
        chosen = await host.call_tool(CHOICE, {"run_id": run_id, "version_id": f"{run_id}.0"})
        assert chosen.structured_content is not None
        assert chosen.structured_content["thought_id"] == f"{run_id}.0"
        assert chosen.structured_content["stop_reason"] == "accepted"
        wrong = await host.call_tool(CHOICE, {"run_id": run_id, "version_id": f"{run_id}.9"})
        assert wrong.is_error


@pytest.mark.browser
def test_a_run_is_shown_for_the_result_of_a_tool(tab: Tab, tmp_path: Path, era: Era) -> None:
    with hosted(tab, Settings(home=tmp_path), era) as host:
        text = "This is the the first version, which we utilize."
        arguments = {"text": text, "model": "editor"}
        host.show("improve_text", host.call("improve_text", **arguments), **arguments)
        expect(host.app.locator("del")).to_contain_text(["the"])
        expect(host.app.locator(".why-card")).not_to_have_count(0)
        said: list[str] = tab.page.evaluate("window.said")
        assert said[:2] == ["ui/initialize", "ui/notifications/initialized"]
        assert "ui/notifications/size-changed" in said
        assert tab.page.locator("iframe").bounding_box()["height"] <= 500  # type: ignore[index]
        host.tell("ui/notifications/host-context-changed", theme="dark")
        expect(host.app.locator("html")).to_have_attribute("data-theme", "dark")
        host.click(host.app.get_by_role("button", name="Full screen"))
        expect(host.app.get_by_role("heading", name="Critics")).to_be_visible()
        assert [each.url for each in tab.requests] == ["http://host.test/", "http://sandbox.test/"]
        assert tab.errors == []


@pytest.mark.browser
def test_a_host_that_reads_no_resources_shows_the_same(tab: Tab, tmp_path: Path, era: Era) -> None:
    with hosted(tab, Settings(home=tmp_path), era, capabilities={"serverTools": {}}) as host:
        arguments = {"text": "This is the the first version.", "model": "editor"}
        host.show("improve_text", host.call("improve_text", **arguments), **arguments)
        expect(host.app.locator("del")).to_contain_text(["the"])
        assert {each["method"] for each in host.asked} == {"ui/initialize", "tools/call"}


@pytest.mark.browser
def test_a_run_is_shown_while_it_goes_on(tab: Tab, shelf: Shelf, tmp_path: Path, era: Era) -> None:
    told = runs.release_notes()
    place = next(n for n, entry in enumerate(told) if entry.kind == "decided") + 1
    shelf.put(told[:place])
    with hosted(tab, Settings(home=tmp_path, store=shelf.url), era) as host:
        host.show("improve_text", None, text=runs.ORIGINAL)
        expect(host.app.locator(".facts")).to_contain_text("writing the next version")
        host.is_silent = True
        expect(host.app.locator(".banner.bad")).to_contain_text("Connection lost")
        shelf.put(told)
        host.is_silent = False
        expect(host.app.locator(".story")).to_contain_text("Version 3 is the", timeout=20_000)
        expect(host.app.locator(".banner.bad")).to_have_count(0)


@pytest.mark.browser
def test_claims_are_shown_with_their_evidence(tab: Tab, tmp_path: Path, era: Era) -> None:
    source = {"text": "The bridge was opened in 1932.", "title": "History of the bridge"}
    arguments = {"claims": ["The bridge was opened in 1932."], "sources": [source]}
    settings = Settings(home=tmp_path, toolsets=("evidence",))
    with hosted(tab, settings, era) as host:
        host.show("verify_evidence", host.call("verify_evidence", **arguments), **arguments)
        expect(host.app.locator(".claim")).to_contain_text("The bridge was opened in 1932.")
        expect(host.app.locator("blockquote footer")).to_contain_text("History of the bridge")


@pytest.mark.browser
def test_a_brief_that_waits_is_shown_until_it_is_met(tab: Tab, tmp_path: Path, era: Era) -> None:
    rule = {"type": "content", "required": ["30 days"]}
    arguments = {"text": "You may send it back.", "validators": [rule], "effort": "quick"}
    with hosted(tab, Settings(home=tmp_path), era) as host:
        waiting = host.call("improve_text", **arguments)
        host.show("improve_text", waiting, **arguments)
        expect(host.app.locator(".banner")).to_contain_text("waits for the next version")
        host.click(host.app.get_by_role("button", name="Full screen"))
        brief = host.app.locator("#brief")
        expect(brief).to_be_visible()
        expect(brief).to_contain_text("30 days")
        expect(brief).to_contain_text("press “Edit”")
        data = waiting.structured_content
        assert data is not None
        revision = {
            "run_id": data["run_id"],
            "parent_id": data["brief"]["parent_id"],
            "text": "You may send it back within 30 days.",
        }
        done = host.call("submit_revision", **revision)
        tab.page.goto("http://host.test/")
        host.show("submit_revision", done, **revision)
        expect(host.app.locator(".story")).to_contain_text("Version 1 is the")
        expect(brief).to_have_count(0)
        expect(host.app.locator("ins")).to_contain_text(["within 30 days"])
        host.click(host.app.get_by_role("button", name="Full screen"))
        differences = host.app.locator("section", has_text="Differences from the original")
        expect(differences.locator("ins")).to_have_text(["30 days", "it back within 30 days."])
        expect(differences.locator(".pill")).to_have_text(["covered", "noted"])
    assert tab.errors == []


@pytest.mark.browser
def test_evidence_is_shown_with_its_sources(
    tab: Tab, shelf: Shelf, tmp_path: Path, era: Era
) -> None:
    shelf.put(runs.release_notes())
    with hosted(tab, Settings(home=tmp_path, store=shelf.url), era) as host:
        host.show("get_thought_history", host.call("get_thought_history", run_id=RUN), run_id=RUN)
        host.click(host.app.get_by_role("button", name="Full screen"))
        expect(host.app.locator("blockquote")).to_contain_text("40,112 teams")
        expect(host.app.locator(".claim .pill")).to_have_text(["supported", "not enough info"])
        host.click(host.app.get_by_role("link", name="Beta report"))
        expect(host.app.locator("blockquote")).to_be_visible()
        tab.page.wait_for_function("window.said.includes('ui/open-link')")
        (opened,) = (each for each in host.asked if each["method"] == "ui/open-link")
        assert opened["params"] == {"url": "https://wiki.example/beta-report"}
    assert tab.errors == []


@pytest.mark.browser
def test_research_is_shown_with_sections_and_sources(tab: Tab, tmp_path: Path, era: Era) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "oil.md").write_text("# Oil lamps\n\nOil lamps burned from 1811 on every quay.\n")
    (pages / "gas.md").write_text("# Gas lamps\n\nGas lamps came to the coast in 1884.\n")
    settings = Settings(home=tmp_path, toolsets=("research",), adapters=(f"docs=folder:{pages}",))
    asked = {"question": "Give a report on the lamps of the coast.", "mode": "deep"}
    with hosted(tab, settings, era) as host:
        host.show("research", host.call("research", **asked), **asked)
        host.click(host.app.get_by_role("button", name="Full screen"))
        panel = host.app.locator("section", has=host.app.get_by_role("heading", name="Research"))
        expect(panel.locator(".pill").first).to_have_text("done")
        expect(panel.locator("ol li").first).to_contain_text("[1] ")
        expect(panel.locator("ol")).to_contain_text("Gas lamps")
        expect(panel.locator("ol")).to_contain_text("docs")
        expect(host.app.locator("#brief")).to_contain_text("is still to be written")
    assert tab.errors == []


@pytest.mark.browser
def test_a_host_without_full_screen_shows_everything_in_the_conversation(
    tab: Tab, shelf: Shelf, tmp_path: Path, era: Era
) -> None:
    shelf.put(runs.release_notes())
    context = {"availableDisplayModes": ["inline"]}
    with hosted(tab, Settings(home=tmp_path, store=shelf.url), era, context=context) as host:
        host.show("get_thought_history", host.call("get_thought_history", run_id=RUN), run_id=RUN)
        evidence = host.app.locator("blockquote")
        expect(evidence).to_be_hidden()
        host.click(host.app.get_by_role("button", name="Show all"))
        expect(evidence).to_be_visible()
        assert "ui/request-display-mode" not in tab.page.evaluate("window.said")
    assert tab.errors == []


@pytest.mark.browser
def test_a_list_of_runs_leads_to_one(tab: Tab, shelf: Shelf, tmp_path: Path, era: Era) -> None:
    shelf.put(runs.release_notes())
    with hosted(tab, Settings(home=tmp_path, store=shelf.url), era) as host:
        host.show("get_thought_history", host.call("get_thought_history"))
        host.click(host.app.locator(".runs a"))
        expect(host.app.locator(".reading")).to_contain_text("Pro plan")
