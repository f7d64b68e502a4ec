"""The places that the HTTP client can be sent to, and those it cannot."""

from collections.abc import Sequence

import pytest

from sifaka.errors import SourceError
from sifaka.evidence.sources.http import HttpClient, Network, Retrying, is_public
from tests.stubs.sources import Source, answered, json_reply, redirect, refusal, source

pytestmark = pytest.mark.anyio

GOOD = json_reply({"ok": True})
PUBLIC, INSIDE = "127.0.0.1", "127.0.0.2"
HOSTS = {
    "wiki.example": [PUBLIC],
    "mirror.example": [PUBLIC],
    "inside.example": [INSIDE],
    "both.example": [INSIDE, PUBLIC],
}


async def resolve(host: str) -> Sequence[str]:
    return HOSTS.get(host, [])


INTERNET = Network(resolve, lambda address: address == PUBLIC)
"""One in which an address of the loopback stands for the public ones."""


def client_of(served: Source, host: str = "wiki.example", **headers: str) -> HttpClient:
    once = Retrying(attempts=1)
    return HttpClient(
        served.at(host), adapter="wiki", headers=headers, network=INTERNET, retrying=once
    )


TARGETS = [
    "/elsewhere",
    "http://mirror.example/x",
    "http://169.254.169.254/latest/meta-data/",
    "//169.254.169.254/",
    "http://[::1]/",
    "file:///etc/passwd",
    "http://[",
    "http://x:99999999/",
]


@pytest.mark.parametrize("target", TARGETS)
async def test_no_redirect_is_followed(target: str) -> None:
    async with source(lambda _: redirect(target)) as served:
        error = await refusal(client_of(served, authorization="Bearer abc"))
    assert error.code == "forbidden"
    assert "redirects to" in str(error)
    assert len(served.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_search_with_a_body_goes_elsewhere(status: int) -> None:
    async with source(lambda _: redirect("/elsewhere", status)) as served:
        client = client_of(served)
        with pytest.raises(SourceError, match=r"redirects to http://wiki\.example:\d+/elsewhere"):
            await client.post("x", {"q": 1})
        await client.aclose()
    assert len(served.requests) == 1


async def test_secrets_of_a_redirect_are_not_told() -> None:
    async with source(lambda _: redirect("http://ann:pw@mirror.example/a?key=k")) as served:
        error = await refusal(client_of(served))
    assert "redirects to http://mirror.example/a," in str(error)
    assert "pw" not in str(error)
    assert "key" not in str(error)


async def test_headers_go_with_each_request() -> None:
    async with source([GOOD]) as served:
        client = HttpClient(
            f"http://ann:secret@wiki.example:{served.port}",
            adapter="wiki",
            headers={"X-Api-Key": "k", "User-Agent": "us/1"},
            network=INTERNET,
        )
        await client.get(params={"token": "t"})
        await client.aclose()
    [request] = served.requests
    assert {"authorization", "x-api-key"} <= set(request.headers)
    assert (request.headers["user-agent"], request.target) == ("us/1", "/?token=t")


async def test_a_public_name_that_moves_to_a_private_address_is_not_followed() -> None:
    answers = iter([[PUBLIC], [INSIDE]])

    async def rebinding(host: str) -> Sequence[str]:
        return next(answers)

    async with source([GOOD]) as served, source([GOOD], host=INSIDE, port=served.port) as inside:
        network = Network(rebinding, lambda address: address == PUBLIC, remembered=0.0)
        client = HttpClient(served.at("wiki.example"), adapter="wiki", network=network)
        assert await client.get() == {"ok": True}
        assert (await refusal(client)).code == "forbidden"
    assert inside.connections == 0


async def test_the_address_that_was_checked_is_the_one_that_is_connected_to() -> None:
    asked: list[str] = []

    async def first_time_only(host: str) -> Sequence[str]:
        asked.append(host)
        return [PUBLIC] if len(asked) == 1 else [INSIDE]

    # No other resolver knows this name.
    async with source([GOOD]) as served:
        network = Network(first_time_only, lambda address: address == PUBLIC)
        client = HttpClient(served.at("wiki.example"), adapter="wiki", network=network)
        await client.get()
        await client.get()
        await client.aclose()
    assert asked == ["wiki.example"]
    assert {each.headers["host"] for each in served.requests} == {f"wiki.example:{served.port}"}


async def test_another_address_of_a_host_is_tried_when_one_does_not_answer() -> None:
    async def resolve_two(host: str) -> Sequence[str]:
        return ["127.0.0.3", PUBLIC]

    async with source([GOOD]) as served:
        network = Network(resolve_two, lambda address: True)
        assert await answered(
            HttpClient(served.at("wiki.example"), adapter="wiki", network=network)
        ) == {"ok": True}


async def test_of_a_public_base_private_addresses_are_left_out() -> None:
    async with source([GOOD], host=INSIDE) as inside, source([GOOD], port=inside.port) as served:
        assert await answered(client_of(served, "both.example")) == {"ok": True}
    assert inside.connections == 0


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with source([GOOD]) as proxy, source([GOOD]) as served:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        await answered(HttpClient(served.url, adapter="wiki"))
    assert proxy.connections == 0


async def test_cookies_are_not_kept() -> None:
    async with source([json_reply({}, set_cookie="a=b"), GOOD]) as served:
        client = HttpClient(served.url, adapter="wiki")
        await client.get()
        await client.get()
        await client.aclose()
    assert "cookie" not in served.requests[1].headers


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),  # noqa: S104 - told apart, not listened on
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:93.184.215.14", True),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("64:ff9b:1::7f00:1", False),
        ("::ffff:0:127.0.0.1", False),
        ("::127.0.0.1", False),
        ("fec0::1", False),
    ],
)
def test_addresses_are_told_apart(address: str, public: bool) -> None:
    assert is_public(address) is public
