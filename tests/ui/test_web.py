"""The pages of runs over HTTP: tokens, tenants, policies, and what goes on while they are open."""

from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import expect

from tests.stubs.served import bearer, grant_token, served
from tests.ui import runs
from tests.ui.browser import Shelf, Tab
from tests.ui.checks import faults

RUN = "run_00000000release"
HTML = {"accept": "text/html"}


def get(url: str, path: str, **headers: str) -> httpx2.Response:
    return httpx2.get(url.removesuffix("/mcp") + path, headers=headers, follow_redirects=False)


@pytest.mark.slow
def test_a_run_its_versions_and_the_list_are_served(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put(runs.release_notes())
    with served(tmp_path, store=shelf.url) as url:
        told = get(url, "/runs").json()
        assert [each["run_id"] for each in told["runs"]] == [RUN]
        run = get(url, f"/runs/{RUN}").json()
        assert (run["champion"], len(run["versions"])) == (3, 4)
        assert get(url, f"/runs/{RUN}?after={run['entries']}").status_code == 204
        assert get(url, f"/runs/{RUN}?after=3").json() == run
        assert get(url, f"/runs/{RUN}/versions/3").json()["text"] == runs.FOURTH
        assert get(url, f"/runs/{RUN}/versions/4").status_code == 404
        assert get(url, "/runs/run_0123456789abcdef").status_code == 404
        assert get(url, "/runs?cursor=x").status_code == 400
        assert [hit["run_id"] for hit in get(url, "/runs?query=beta").json()["hits"]] == [RUN] * 4
        root = get(url, "/")
        assert (root.status_code, root.headers["location"]) == (307, "runs")


def test_the_page_comes_with_a_policy_and_without_data(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put(runs.release_notes())
    with served(tmp_path, store=shelf.url) as url:
        page = get(url, f"/runs/{RUN}", **HTML)
    assert page.status_code == 200
    assert "40,000 teams" not in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["cache-control"] == "no-store"


@pytest.mark.slow
def test_a_token_shows_the_runs_of_its_tenant_alone(shelf: Shelf, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    reader = grant_token(tokens, "alice", scopes=("sifaka:read",))
    shelf.put(runs.release_notes(), tenant="alice")
    paths = ("/runs", f"/runs/{RUN}", f"/runs/{RUN}/versions/3")
    with served(tmp_path, store=shelf.url, auth_tokens_file=tokens) as url:
        for path in paths:
            assert get(url, path).status_code == 401
            assert get(url, path, authorization="Bearer wrong").status_code == 401
            assert get(url, path, **HTML).status_code == 401
            assert "www-authenticate" in get(url, path, **HTML).headers
            assert get(url, path, **bearer(alice)).status_code == 200
            assert get(url, path, **bearer(reader)).status_code == 200
        assert get(url, "/runs", **bearer(bob)).json()["runs"] == []
        for path in paths[1:]:
            assert get(url, path, **bearer(bob)).status_code == 404


def test_a_foreign_name_or_page_gets_nothing(shelf: Shelf, tmp_path: Path) -> None:
    with served(tmp_path, store=shelf.url) as url:
        assert get(url, "/runs", host="evil.example").status_code == 421
        assert get(url, "/runs", origin="https://evil.example").status_code == 403


def test_a_server_without_the_tool_has_no_pages(tmp_path: Path) -> None:
    with served(tmp_path, toolsets=("evidence",)) as url:
        assert get(url, "/runs").status_code == 404


@pytest.mark.browser
def test_the_list_is_searched_and_leads_to_a_run(tab: Tab, shelf: Shelf, tmp_path: Path) -> None:
    shelf.put(runs.release_notes())
    shelf.put(runs.release_notes(end=runs.WAITING, run_id="run_0000000000waits"))
    with served(tmp_path, store=shelf.url) as url:
        tab.page.goto(url.replace("/mcp", "/"))
        rows = tab.page.locator(".runs a")
        expect(rows).to_have_count(2)
        tab.page.get_by_role("button", name="Waiting").click()
        expect(rows).to_have_count(1)
        tab.page.get_by_role("button", name="All").click()
        tab.page.get_by_role("searchbox").fill("400,000")
        expect(tab.page.locator(".runs .group")).to_have_count(2)
        expect(rows.first).to_contain_text("version 2")
        tab.page.get_by_role("searchbox").fill("")
        tab.page.get_by_role("button", name="Done").click()
        expect(rows).to_have_count(1)
        rows.first.click()
        expect(tab.page.get_by_role("heading", level=1)).to_have_text("Release notes, version 4.2")
        assert tab.page.url.endswith(f"/runs/{RUN}")
        tab.page.get_by_role("link", name="Sifaka").click()
        expect(rows).to_have_count(2)
    assert tab.errors == []


@pytest.mark.browser
def test_a_hit_opens_its_version_with_its_words_marked(
    tab: Tab, shelf: Shelf, tmp_path: Path
) -> None:
    shelf.put(runs.release_notes())
    shelf.put(runs.many())
    with served(tmp_path, store=shelf.url) as url:
        tab.page.goto(url.replace("/mcp", "/runs#query=excited announcement"))
        hits = tab.page.locator(".group a.hit")
        expect(hits).to_have_count(1)
        expect(hits.locator("mark")).to_have_text(["excited", "announce"])
        expect(tab.page.locator(".group")).to_contain_text(RUN)
        assert faults(tab.page) == []
        hits.click()
        expect(tab.page.locator(".found")).to_have_text("2 places with “excited”, “announce”")
        expect(tab.page.locator("[aria-current=true] .v")).to_have_text("v0")
        words = "[...CSS.highlights.get('found')].map((each) => each.toString())"
        assert tab.page.evaluate(words) == ["excited", "announce"]
        assert faults(tab.page) == []
        tab.page.reload()
        expect(tab.page.locator(".found")).to_contain_text("2 places")
        tab.page.keyboard.press("]")
        expect(tab.page.locator(".found")).to_contain_text("0 places")
        tab.page.get_by_role("button", name="Clear").click()
        expect(tab.page.locator(".found")).to_have_count(0)
        assert "find" not in tab.page.url
        tab.page.goto(url.replace("/mcp", "/runs#query=quoted"))
        expect(tab.page.locator(".group")).to_have_count(1)
        expect(hits).to_have_count(1)
        expect(hits).to_contain_text("so in 7 more versions")
        expect(tab.page.locator(".group mark").first).to_have_text("quoted")
        expect(tab.page.locator(".group mark").filter(has_text="each")).to_have_count(0)
    assert tab.errors == []


@pytest.mark.browser
def test_the_page_asks_for_a_token_and_keeps_it_in_the_tab(
    tabs: Callable[..., Tab], shelf: Shelf, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    token = grant_token(tokens, "alice")
    shelf.put(runs.release_notes(), tenant="alice")
    with served(tmp_path, store=shelf.url, auth_tokens_file=tokens) as url:
        tab = tabs()
        tab.page.goto(url.replace("/mcp", f"/runs/{RUN}"))
        tab.page.get_by_label("Token").fill("wrong")
        tab.page.get_by_role("button", name="Open").click()
        expect(tab.page.get_by_role("alert")).to_contain_text("not accepted")
        tab.page.get_by_label("Token").fill(token)
        tab.page.keyboard.press("Enter")
        expect(tab.page.locator(".reading")).to_contain_text("Pro plan")
        tab.page.reload()
        expect(tab.page.locator(".reading")).to_contain_text("Pro plan")
        assert tab.page.evaluate("[document.cookie, localStorage.length]") == ["", 0]
        other = tabs()
        other.page.goto(url.replace("/mcp", f"/runs/{RUN}"))
        expect(other.page.get_by_label("Token")).to_be_visible()


@pytest.mark.browser
def test_a_run_is_followed_and_a_connection_is_healed(
    tab: Tab, shelf: Shelf, tmp_path: Path
) -> None:
    told = runs.release_notes()
    first = next(place for place, entry in enumerate(told) if entry.kind == "decided") + 1
    shelf.put(told[:first])
    with served(tmp_path, store=shelf.url) as url:
        tab.page.goto(url.replace("/mcp", f"/runs/{RUN}"))
        expect(tab.page.locator(".facts")).to_contain_text("writing the next version")
        expect(tab.page.locator(".versions li")).to_have_count(1)
        shelf.put(told[: first + 2])
        expect(tab.page.locator(".versions li")).to_have_count(2)
        expect(tab.page.locator(".facts")).to_contain_text("asking the critics")
        tab.page.route("**/runs/**", lambda route: route.abort())
        expect(tab.page.locator(".banner.bad")).to_contain_text("Connection lost")
        shelf.put(told)
        tab.page.unroute_all()
        expect(tab.page.locator(".banner.good")).to_contain_text("Connected again")
        expect(tab.page.locator(".story")).to_contain_text("Version 3 is the")
        expect(tab.page.locator(".banner")).to_have_count(0)
        asked = len(tab.requests)
        tab.page.wait_for_timeout(1500)
        assert len(tab.requests) == asked, "a run that is over is not asked for again"
