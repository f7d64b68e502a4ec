"""Host and Origin headers, pages in browsers, proxies."""

from pathlib import Path

import httpx2
import pytest

from sifaka_mcp.tenancy import caller_of
from tests.stubs.served import asking, bearer, grant_token, served

pytestmark = pytest.mark.anyio
PAGE = "https://app.example"


async def test_only_the_servers_own_names_are_answered(tmp_path: Path) -> None:
    settings = {
        "allowed_hosts": "a.example:*,b.example:8443,c.example",
        "public_url": "https://sifaka.example/mcp",
    }
    with served(tmp_path, **settings) as url:
        request = asking()
        async with httpx2.AsyncClient() as http:
            for host, status in {
                "a.example:1": 200,
                "b.example:8443": 200,
                "c.example": 200,
                "sifaka.example": 200,
                "localhost": 200,
                "[::1]:8000": 200,
                "a.example": 200,
                "A.EXAMPLE:2": 200,
                "c.example:80": 200,
                "c.example:443": 200,
                "Sifaka.Example:443": 200,
                "b.example": 421,
                "c.example:8080": 421,
                "localhost:1@evil.example": 421,
                "localhost:1.evil.example": 421,
                "localhost:99999": 421,
                "http://localhost": 421,
                "sifaka.example.evil.example": 421,
                "evil.example": 421,
                "localhost.evil.example:80": 421,
                "169.254.169.254": 421,
            }.items():
                headers = request["headers"] | {"host": host}
                answer = await http.post(url, json=request["json"], headers=headers)
                assert answer.status_code == status, host
                numbers = await http.get(url.replace("/mcp", "/metrics"), headers={"host": host})
                assert numbers.status_code == status, host


async def test_only_pages_of_its_own_names_are_answered(tmp_path: Path) -> None:
    with served(tmp_path, allowed_hosts="a.example:*", cors_origins=PAGE) as url:
        request = asking()
        async with httpx2.AsyncClient() as http:
            for origin, status in {
                "http://localhost:3000": 200,
                "https://a.example:3000": 200,
                PAGE: 200,
                "http://localhost:80": 200,
                "HTTP://LOCALHOST:3000": 200,
                "http://localhost:1@evil.example": 403,
                "http://localhost:1.evil.example": 403,
                "localhost": 403,
                "ftp://localhost": 403,
                f"{PAGE}:80": 403,
                f"{PAGE}:8443": 403,
                f"{PAGE}.evil.example": 403,
                "http://app.example": 403,
                "https://evil.example": 403,
                "null": 403,
            }.items():
                headers = request["headers"] | {"origin": origin}
                answer = await http.post(url, json=request["json"], headers=headers)
                assert answer.status_code == status, origin
                allowed = answer.headers.get("access-control-allow-origin")
                assert allowed == (PAGE if origin == PAGE else None)


async def test_health_is_told_under_any_name_for_load_balancers_ask_by_address(
    tmp_path: Path,
) -> None:
    with served(tmp_path) as url:
        async with httpx2.AsyncClient(headers={"host": "10.1.2.3:8000"}) as http:
            for path in ("/healthz", "/readyz"):
                assert (await http.get(url.replace("/mcp", path))).status_code == 200


async def test_a_page_may_ask_before_it_has_a_token_what_it_may_send(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    alice = grant_token(tokens, "alice")
    with served(tmp_path, auth_tokens_file=tokens, cors_origins=PAGE) as url:
        asked = {
            "origin": PAGE,
            "access-control-request-method": "POST",
            "access-control-request-headers": (
                "authorization,content-type,mcp-protocol-version,mcp-session-id,mcp-method,mcp-name"
            ),
        }
        async with httpx2.AsyncClient() as http:
            preflight = await http.options(url, headers=asked)
            assert preflight.status_code == 200
            assert preflight.headers["access-control-allow-origin"] == PAGE
            allowed = preflight.headers["access-control-allow-headers"].lower()
            assert all(name in allowed for name in ("authorization", "mcp-protocol-version"))
            foreign = await http.options(url, headers=asked | {"origin": "https://evil.example"})
            assert foreign.status_code == 400
            assert "access-control-allow-origin" not in foreign.headers
            request = asking()
            refused = await http.post(
                url, json=request["json"], headers=request["headers"] | {"origin": PAGE}
            )
            assert refused.status_code == 401
            assert refused.headers["access-control-allow-origin"] == PAGE, "the page may read why"
            assert "www-authenticate" in refused.headers["access-control-expose-headers"]
            answer = await http.post(
                url,
                json=request["json"],
                headers=request["headers"] | {"origin": PAGE} | bearer(alice),
            )
            assert answer.status_code == 200
            assert "mcp-session-id" in answer.headers["access-control-expose-headers"]
            assert "access-control-allow-credentials" not in answer.headers


async def test_without_such_pages_nothing_is_said_to_browsers(tmp_path: Path) -> None:
    with served(tmp_path) as url:
        asked = {"origin": "http://localhost:1", "access-control-request-method": "POST"}
        async with httpx2.AsyncClient() as http:
            answer = await http.options(url, headers=asked)
            assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(("trusted", "limited"), [("", True), ("127.0.0.1", False)])
async def test_an_address_that_a_proxy_tells_counts_only_when_the_proxy_is_trusted(
    tmp_path: Path, trusted: str, limited: bool
) -> None:
    with served(tmp_path, rate_limit="1/hour", trusted_proxies=trusted) as url:
        request = asking()
        statuses: list[int] = []
        async with httpx2.AsyncClient() as http:
            for number in range(3):
                headers = request["headers"] | {"x-forwarded-for": f"203.0.113.{number}"}
                answer = await http.post(url, json=request["json"], headers=headers)
                statuses.append(answer.status_code)
    assert statuses == ([200, 429, 429] if limited else [200, 200, 200])


@pytest.mark.parametrize("forged", ["not an address", "203.0.113.999", "unknown", "-", ""])
async def test_what_a_proxy_forwards_and_is_no_address_is_one_caller(
    tmp_path: Path, forged: str
) -> None:
    with served(tmp_path, rate_limit="1/hour", trusted_proxies="127.0.0.1") as url:
        request = asking()
        statuses: list[int] = []
        async with httpx2.AsyncClient() as http:
            for told in ("x", f"{forged}1" if forged else "", forged):
                headers = request["headers"] | {"x-forwarded-for": told}
                answer = await http.post(url, json=request["json"], headers=headers)
                statuses.append(answer.status_code)
    # Where nothing is told, it is the proxy itself that asks.
    assert statuses == ([200, 429, 429] if forged else [200, 200, 429])


def test_addresses_of_one_site_are_one_caller() -> None:
    def callers(*hosts: str) -> set[str]:
        return {caller_of({"type": "http", "client": (host, 1)}) for host in hosts}

    assert len(callers("2001:db8::1", "2001:db8::ffff", "[2001:db8::2]:443", "2001:DB8:0::9")) == 1
    assert len(callers("10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1:8080", "::ffff:a00:1")) == 1
    assert len(callers("unknown", "x", "1.2.3.4.5", "", "_hidden")) == 1
    assert len(callers("2001:db8::1", "2001:db8:1::1", "10.0.0.1", "10.0.0.2", "unknown")) == 5
