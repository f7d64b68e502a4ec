"""The places that the HTTP client can be sent to, and those it cannot; over TLS too."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

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
    assert error.error_code == "forbidden"
    assert "redirects to" in str(error)
    assert len(served.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_search_with_a_body_goes_elsewhere(status: int) -> None:
    async with source(lambda _: redirect("/elsewhere", status)) as served:
        client = client_of(served)
        with pytest.raises(SourceError, match=r"redirects to http://wiki\.example:\d+/elsewhere"):
            await client.ask("x", body={"q": 1})
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
            f"http://wiki.example:{served.port}",
            adapter="wiki",
            headers={"X-Api-Key": "k", "User-Agent": "us/1"},
            network=INTERNET,
        )
        await client.ask(params={"token": "t"})
        await client.aclose()
    [request] = served.requests
    assert request.headers["x-api-key"] == "k"
    assert (request.headers["user-agent"], request.target) == ("us/1", "/?token=t")


async def test_a_public_name_that_moves_to_a_private_address_is_not_followed() -> None:
    answers = iter([[PUBLIC], [INSIDE]])

    async def rebinding(host: str) -> Sequence[str]:
        return next(answers)

    async with source([GOOD]) as served, source([GOOD], host=INSIDE, port=served.port) as inside:
        network = Network(rebinding, lambda address: address == PUBLIC, remembered=0.0)
        client = HttpClient(served.at("wiki.example"), adapter="wiki", network=network)
        assert await client.ask() == {"ok": True}
        assert (await refusal(client)).error_code == "forbidden"
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
        await client.ask()
        await client.ask()
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
        await client.ask()
        await client.ask()
        await client.aclose()
    assert "cookie" not in served.requests[1].headers


@pytest.mark.parametrize(
    ("public", "addresses"),
    [
        (True, ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:93.184.215.14")),
        (False, ("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254")),
        (False, ("100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255")),  # noqa: S104 - told
        (False, ("::1", "::", "fe80::1%eth0", "fd00::1", "ff02::1", "fec0::1")),
        (False, ("::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "::127.0.0.1")),
        (False, ("64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::")),
    ],
)
def test_addresses_are_told_apart(public: bool, addresses: tuple[str, ...]) -> None:
    for address in addresses:
        assert is_public(address) is public, address


async def resolve_here(host: str) -> Sequence[str]:
    return ["127.0.0.1"]


def client_over_tls(base: str) -> HttpClient:
    network = Network(resolve_here, lambda address: address == "127.0.0.1")
    return HttpClient(base, adapter="wiki", network=network, retrying=Retrying(attempts=1))


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SSLContext:
    """The server's side of `wiki.example`, whose certificate this machine trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "wiki.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("wiki.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "both.pem"
    plain = serialization.NoEncryption()
    pem = serialization.Encoding.PEM
    file.write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
        + certificate.public_bytes(pem)
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    context = SSLContext(PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


async def test_the_certificate_has_to_be_of_the_name_and_not_of_the_address(
    trusted: SSLContext,
) -> None:
    async with source([GOOD], encrypted=trusted) as served:
        assert await answered(client_over_tls(served.at("wiki.example"))) == {"ok": True}
        other = client_over_tls(served.at("mirror.example"))
        with pytest.raises(SourceError) as caught:
            await other.ask()
        await other.aclose()
    assert caught.value.error_code == "connection"
    assert "certificate" in str(caught.value).lower()


async def test_an_untrusted_certificate_is_refused(
    trusted: SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    async with source([GOOD], encrypted=trusted) as served:
        error = await refusal(client_over_tls(served.at("wiki.example")))
    assert error.error_code == "connection"
    assert served.requests == []
