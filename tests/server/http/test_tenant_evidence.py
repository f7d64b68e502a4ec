"""The texts of one tenant are evidence for that tenant alone."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

from tests.stubs.calls import call
from tests.stubs.provider import Reply, calls, provider, told_of
from tests.stubs.served import client_of, grant_token, served
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio
CLAIM = "The lighthouse of Skär is 31 metres high."


async def found(client: Client) -> list[dict[str, Any]]:
    out = await call(client, "verify_evidence", claims=[CLAIM])
    (verdict,) = out["verdicts"]
    return verdict["evidence"]


async def test_past_texts_of_another_tenant_are_no_evidence(tmp_path: Path, era: Era) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch()
    configured: dict[str, Any] = {
        "toolsets": ("refine", "evidence"),
        "adapters": ("past=thoughts:",),
        "auth_tokens_file": tokens,
    }
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    reader = grant_token(tokens, "alice", scopes=("sifaka:read",))
    with served(tmp_path, **configured) as url:
        async with (
            client_of(url, alice, era) as hers,
            client_of(url, bob, era) as his,
            client_of(url, reader, era) as reading,
        ):
            run = await call(hers, "improve_text", text=CLAIM)
            assert run["status"] == "done"
            with anyio.fail_after(20):
                assert [each["adapter"] for each in await found(hers)] == ["past"]
                assert [each["adapter"] for each in await found(reading)] == ["past"]
                assert await found(his) == []


SAID = "The lighthouse of Skär is 31 metres high."


def judged(request: Mapping[str, Any]) -> Reply:
    """Plans, and supports every criterion with words of the page."""
    asked = str(request["messages"][-1]["content"])
    if "<criteria" not in asked:
        criteria = [{"id": "height", "description": "It says how high it is.", "weight": 1}]
        return calls("answer", {"queries": ["lighthouse height"], "criteria": criteria})
    support = {"criterion": "height", "judgement": "support", "quotes": [SAID]}
    return calls("answer", {"judgements": [support]})


@asynccontextmanager
async def searching(
    home: Path, told: Mapping[str, Any], **settings: Any
) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of the plain paths of a server with a folder of three pages."""
    folder = home / "pages"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.md").write_text(f"# Lighthouse {number}\n\n{SAID} Tower {number}.\n")
    adapters = (f"isles=folder:{folder}",)
    configured = {"toolsets": ("evidence",), "adapters": adapters, **settings}
    with served(home, **configured, **told) as url:
        async with httpx2.AsyncClient(base_url=url.removesuffix("/mcp"), timeout=60) as http:
            yield http


def asked_with(token: str, **options: Any) -> dict[str, Any]:
    body = {"query": "How high is the lighthouse of Skär?", "options": options}
    return {"json": body, "headers": {"Authorization": f"Bearer {token}"}}


async def test_a_token_for_reading_searches_over_plain_http_and_asks_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch()
    reader = grant_token(tokens, "alice", scopes=("sifaka:read",))
    with provider(judged) as models:
        told_of(models, monkeypatch)
        configured = {"auth_tokens_file": tokens, "model": "openai-chat:stub"}
        async with searching(tmp_path, {}, **configured) as http:
            search = (await http.post("/v1/search", **asked_with(reader))).json()
            plan = (await http.post("/v1/plan", **asked_with(reader))).json()
        assert models.requests == [], "a token for reading spends nothing"
    assert [e["classification"] for e in search["unverified_results"]] == ["unverified"] * 3
    assert search["degraded"]
    assert plan["degraded"]


async def test_a_tenants_budget_holds_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = tmp_path / "tokens"
    tokens.touch()
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    with provider(judged) as models:
        told_of(models, monkeypatch)
        configured = {"auth_tokens_file": tokens, "model": "openai-chat:stub"}
        async with searching(tmp_path, {"tenant_budget": "max_calls=5"}, **configured) as http:
            first = (await http.post("/v1/search", **asked_with(alice))).json()
            assert len(first["perfect_results"]) == 3
            assert len(models.requests) == 4, "the plan, and each document"
            plan = (await http.post("/v1/plan", **asked_with(alice))).json()
            assert (plan["degraded"], len(models.requests)) == ([], 5)
            spent = await http.post("/v1/search", **asked_with(alice))
            assert spent.status_code == 200
            assert len(spent.json()["unverified_results"]) == 3
            assert (await http.post("/v1/plan", **asked_with(alice))).json()["degraded"]
            assert len(models.requests) == 5, "nothing more was asked for alice"
            other = (await http.post("/v1/search", **asked_with(bob))).json()
            assert len(other["perfect_results"]) == 3, "bob has a budget of his own"
