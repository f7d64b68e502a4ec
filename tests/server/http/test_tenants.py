"""Several tenants on one server: what a token shows, and what is evidence for it."""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextResourceContents

from tests.stubs.calls import call, refusal
from tests.stubs.provider import Reply, calls, provided
from tests.stubs.served import asking, bearer, client_of, grant_token, pinging, served
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio


UNKNOWN = "run_0123456789abcdef"
RULES = [{"type": "content", "required": ["refund"]}]
READERS = {"validate_text", "critique_text", "get_thought_history"}


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    return tmp_path / "tokens"


@pytest.fixture
def url(tmp_path: Path, tokens: Path) -> Generator[str]:
    tokens.touch()
    with served(tmp_path, auth_tokens_file=tokens) as url:
        yield url


async def begun(client: Client) -> dict[str, Any]:
    run = await call(client, "improve_text", text="Secret plan.", validators=RULES)
    assert run["status"] == "needs_revision"
    return run


async def said(client: Client, run_id: str, thought_id: str) -> list[str]:
    """The answer of every way of asking for a run, or its refusal."""
    answers: list[str] = []
    for tool, arguments in (
        ("get_thought_history", {"run_id": run_id}),
        ("resume_run", {"run_id": run_id}),
        ("submit_revision", {"run_id": run_id, "parent_id": thought_id, "text": "A refund."}),
        ("cancel_run", {"run_id": run_id}),
    ):
        answers.append(await refusal(client, tool, **arguments))
    for address in (f"run://{run_id}", f"run://{run_id}/diff", f"thought://{thought_id}"):
        try:
            read = await client.read_resource(address)
            first = read.contents[0]
            assert isinstance(first, TextResourceContents)
            answers.append(f"shown: {first.text}")
        except MCPError as error:
            answers.append(f"{error.error.code}: {error.error.message}")
    return answers


async def test_runs_of_others_are_as_those_that_never_were(
    url: str, tokens: Path, era: Era
) -> None:
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    async with client_of(url, alice, era) as hers, client_of(url, bob, era) as his:
        run = await begun(hers)
        run_id, thought_id = run["run_id"], run["brief"]["parent_id"]
        unknown_thought = thought_id.replace(run_id, UNKNOWN)
        foreign = await said(his, run_id, thought_id)
        expected = await said(his, UNKNOWN, unknown_thought)
        assert foreign == [answer.replace(UNKNOWN, run_id) for answer in expected]
        assert not any("shown" in answer or "Secret" in answer for answer in foreign)

        assert (await call(his, "get_thought_history"))["runs"] == []
        found = await call(his, "get_thought_history", query="secret plan")
        assert found["hits"] == []
        for reference in (
            ResourceTemplateReference(uri="run://{run_id}"),
            ResourceTemplateReference(uri="thought://{thought_id}"),
            PromptReference(name="review"),
        ):
            for name in ("run_id", "thought_id"):
                argument = {"name": name, "value": run_id[:5]}
                completed = await his.complete(reference, argument)
                assert completed.completion.values == []

        kept = await call(hers, "get_thought_history", run_id=run_id)
        assert kept["run"]["status"] == "needs_revision", "it was not touched"
        argument = {"name": "run_id", "value": ""}
        completed = await hers.complete(ResourceTemplateReference(uri="run://{run_id}"), argument)
        assert completed.completion.values == [run_id]


async def test_nothing_but_its_token_says_who_a_client_is(url: str, tokens: Path, era: Era) -> None:
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    async with client_of(url, alice, era) as hers:
        run = await begun(hers)
    names = ("X-Tenant", "X-Sifaka-Tenant", "Sifaka-Tenant", "X-Forwarded-User", "X-Remote-User")
    smuggled = dict.fromkeys(names, "alice") | {"Mcp-Session-Id": run["run_id"]}
    async with client_of(url, bob, era, **smuggled) as his:
        result = await his.call_tool("get_thought_history", {"run_id": run["run_id"]})
        assert result.is_error
    async with httpx2.AsyncClient() as http:
        twice = await http.post(
            url,
            json=asking()["json"],
            headers=[
                ("accept", "application/json, text/event-stream"),
                ("authorization", f"Bearer {bob}"),
                ("authorization", f"Bearer {alice}"),
            ],
        )
        assert (twice.status_code, twice.json()) == (400, {"error": "repeated_header"})


async def test_without_a_good_token_nothing_is_answered(url: str, tokens: Path) -> None:
    alice = grant_token(tokens, "alice")
    wrong: list[dict[str, str]] = [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        bearer("sfk_wrong"),
        bearer(f"{alice}x"),
        {"authorization": f"Basic {alice}"},
        {"authorization": alice},
        {"cookie": f"authorization=Bearer {alice}"},
        {"x-authorization": f"Bearer {alice}"},
    ]
    request = asking()
    async with httpx2.AsyncClient() as http:
        for headers in wrong:
            answer = await http.post(url, **pinging(**headers))
            assert answer.status_code == 401, headers
            assert answer.headers["www-authenticate"].startswith("Bearer ")
            assert answer.json()["error"] == "invalid_token"
            assert alice not in answer.text
        for query in (f"access_token={alice}", f"token={alice}", f"authorization=Bearer%20{alice}"):
            answer = await http.post(f"{url}?{query}", **request)
            assert answer.status_code == 401, "a token in a query ends up in logs"
        assert (await http.post(url, **pinging(alice))).status_code == 200


async def test_no_stream_stays_open_for_nothing(url: str, tokens: Path, tmp_path: Path) -> None:
    alice = grant_token(tokens, "alice")
    stream = {"accept": "text/event-stream"}
    with served(tmp_path) as anonymous:
        async with httpx2.AsyncClient() as http:
            for place, headers in ((url, stream | bearer(alice)), (anonymous, stream)):
                for method in ("GET", "DELETE", "HEAD"):
                    answer = await http.request(method, place, headers=headers)
                    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
            refused = await http.get(url, headers=stream)
            assert refused.status_code == 401
            assert "www-authenticate" in refused.headers


async def test_a_withdrawn_token_is_refused_at_once(url: str, tokens: Path) -> None:
    alice = grant_token(tokens, "alice")
    async with httpx2.AsyncClient() as http:
        assert (await http.post(url, **pinging(alice))).status_code == 200
        await anyio.Path(tokens).write_text("# none\n")
        assert (await http.post(url, **pinging(alice))).status_code == 401


@pytest.mark.servers
async def test_a_stream_ends_with_the_token_that_has_opened_it(url: str, tokens: Path) -> None:
    alice = grant_token(tokens, "alice", expires=datetime.now(UTC) + timedelta(seconds=4))
    with anyio.fail_after(20):
        async with client_of(url, alice) as client:
            async with client.listen(resource_subscriptions=[f"run://{UNKNOWN}"]) as told:
                assert [event async for event in told] == []
            with pytest.raises(MCPError):
                await client.list_tools()


async def test_a_token_for_reading_changes_nothing(url: str, tokens: Path, era: Era) -> None:
    alice = grant_token(tokens, "alice")
    reader = grant_token(tokens, "alice", scopes=("sifaka:read",))
    both = grant_token(tokens, "alice", scopes=("sifaka:read", "sifaka:write"))
    async with client_of(url, alice, era) as writing, client_of(url, reader, era) as reading:
        run = await begun(writing)
        run_id, parent_id = run["run_id"], run["brief"]["parent_id"]
        arguments: dict[str, dict[str, Any]] = {
            "improve_text": {"text": "x"},
            "submit_revision": {"run_id": run_id, "parent_id": parent_id, "text": "A refund."},
            "resume_run": {"run_id": run_id},
            "cancel_run": {"run_id": run_id},
            "validate_text": {"text": "x", "validators": RULES},
            "critique_text": {"text": "x"},
            "get_thought_history": {"run_id": run_id},
        }
        listed = {tool.name for tool in (await reading.list_tools()).tools}
        assert listed == set(arguments)
        for tool in sorted(listed):
            if tool in READERS:
                await call(reading, tool, **arguments[tool])
            else:
                assert "sifaka:write" in await refusal(reading, tool, **arguments[tool])
        assert (await reading.read_resource(f"run://{run_id}")).contents
        history = await call(writing, "get_thought_history")
        assert [r["status"] for r in history["runs"]] == ["needs_revision"]
    async with httpx2.AsyncClient() as http:
        for name in ("Improve_text", " improve_text", ["improve_text"], {"improve_text": 1}, None):
            request = asking("tools/call", name=name, arguments={"text": "x"})
            request["headers"] |= bearer(reader)
            assert "sifaka:write" in (await http.post(url, **request)).text, name
    async with client_of(url, both, era) as client:
        assert not (await client.call_tool("cancel_run", {"run_id": run_id})).is_error


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
    with provided(judged, monkeypatch) as models:
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
    with provided(judged, monkeypatch) as models:
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
