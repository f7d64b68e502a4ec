"""Behind an authorization server: what clients are told, and whose tokens are let in."""

import time
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.stubs.calls import call
from tests.stubs.issuer import Issuer, issuer
from tests.stubs.served import asking, client_of, grant_token, pinging, served
from tests.stubs.servers import Era

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def told() -> Generator[Issuer]:
    with issuer() as running:
        yield running


async def status_of(url: str, token: str) -> int:
    async with httpx2.AsyncClient() as http:
        answer = await http.post(url, **pinging(token))
        assert token not in answer.text
        return answer.status_code


async def test_who_has_no_token_learns_where_to_get_one(told: Issuer, tmp_path: Path) -> None:
    with served(tmp_path, oauth_issuer=told.url, oauth_scopes=("sifaka",)) as url:
        async with httpx2.AsyncClient() as http:
            refused = await http.post(url, **asking())
            assert refused.status_code == 401
            challenge = refused.headers["www-authenticate"]
            metadata_url = challenge.partition('resource_metadata="')[2].partition('"')[0]
            parts = urlsplit(url)
            place = f"http://{parts.netloc}/.well-known/oauth-protected-resource/mcp"
            assert metadata_url == place
            metadata = (await http.get(metadata_url)).json()
            assert metadata["resource"] == url
            assert metadata["authorization_servers"] == [told.url], "as the issuer calls itself"
            assert metadata["scopes_supported"] == ["sifaka"]


async def test_a_server_with_its_own_tokens_advertises_no_other(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    grant_token(tokens, "alice")
    with served(tmp_path, auth_tokens_file=tokens) as url:
        async with httpx2.AsyncClient() as http:
            refused = await http.post(url, **asking())
            assert "resource_metadata" not in refused.headers["www-authenticate"]
            place = url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp")
            assert (await http.get(place)).status_code == 404


@pytest.mark.slow
async def test_the_audience_is_this_server_or_as_named(told: Issuer, tmp_path: Path) -> None:
    with served(tmp_path, oauth_issuer=told.url) as url:
        assert await status_of(url, told.token(aud=url)) == 200
        assert await status_of(url, told.token(aud="sifaka")) == 401
        assert await status_of(url, told.token(aud=f"{url}/other")) == 401
    with served(tmp_path, oauth_issuer=told.url, oauth_audience="sifaka") as url:
        assert await status_of(url, told.token(aud="sifaka")) == 200
        assert await status_of(url, told.token(aud=url)) == 401
    public = "https://sifaka.example/mcp"
    with served(tmp_path, oauth_issuer=told.url, public_url=public) as url:
        assert await status_of(url, told.token(aud=public)) == 200
        assert await status_of(url, told.token(aud=url)) == 401


@pytest.mark.slow
async def test_tokens_that_are_wrong_are_refused_over_http(told: Issuer, tmp_path: Path) -> None:
    with served(tmp_path, oauth_issuer=told.url, oauth_audience="sifaka") as url:
        for token in (
            told.token(exp=int(time.time()) - 1),  # no leeway here
            told.token(nbf=int(time.time()) + 600),
            told.token(iss="https://other.example"),
            told.token("RS256", "one", 1),
            told.token().rpartition(".")[0] + ".",
        ):
            assert await status_of(url, token) == 401


@pytest.mark.slow
async def test_any_subject_is_a_tenant_and_one_alone(told: Issuer, tmp_path: Path) -> None:
    with served(tmp_path, oauth_issuer=told.url, oauth_audience="sifaka") as url:
        for subject in ("alice", "alice ", "Alice", "../alice", "a\n\0", "\ud800", "x" * 9999):
            token = told.token(sub=subject)
            async with client_of(url, token) as client:
                before = await call(client, "get_thought_history")
                assert before["runs"] == [], subject
                assert not (await client.call_tool("improve_text", {"text": "Mine."})).is_error


@pytest.mark.slow
async def test_a_token_has_to_be_good_for_what_is_asked(told: Issuer, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    own = grant_token(tokens, "alice")
    settings = {"oauth_issuer": told.url, "oauth_audience": "sifaka", "oauth_scopes": "a,b"}
    with served(tmp_path, auth_tokens_file=tokens, **settings) as url:
        assert await status_of(url, told.token(scope="b c a")) == 200
        assert await status_of(url, told.token(scope="a")) == 403
        assert await status_of(url, told.token()) == 403
        assert await status_of(url, own) == 200, "a token of the file needs no scope of theirs"


async def test_tokens_of_either_kind_are_let_in_and_their_tenants_are_apart(
    told: Issuer, tmp_path: Path, era: Era
) -> None:
    tokens = tmp_path / "tokens"
    own = grant_token(tokens, "alice")
    settings = {"oauth_issuer": told.url, "oauth_audience": "sifaka"}
    with served(tmp_path, auth_tokens_file=tokens, **settings) as url:
        foreign = told.token(sub="alice")
        reader = told.token(sub="alice", scope="sifaka:read")
        async with (
            client_of(url, own, era) as ours,
            client_of(url, foreign, era) as theirs,
            client_of(url, reader, era) as reading,
        ):
            run_id = (await call(ours, "improve_text", text="A text."))["run_id"]
            found = await theirs.call_tool("get_thought_history", {"run_id": run_id})
            assert found.is_error, "the same name, but of another issuer"
            assert (await reading.call_tool("improve_text", {"text": "A text."})).is_error


async def test_while_no_key_can_be_had_a_good_token_is_not_called_wrong(tmp_path: Path) -> None:
    with issuer() as told, served(tmp_path, oauth_issuer=told.url, oauth_audience="sifaka") as url:
        told.jwks = "error"
        async with httpx2.AsyncClient() as http:
            answer = await http.post(url, **pinging(told.token()))
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) > 0
            assert answer.json()["error"] == "temporarily_unavailable"
            assert told.url not in answer.text
            assert (await http.get(url.replace("/mcp", "/healthz"))).status_code == 200
