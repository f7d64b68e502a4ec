"""The keys of an issuer: found, kept, fetched anew, and never waited for for long."""

import logging
from collections.abc import Generator

import anyio
import pytest

from sifaka_mcp.auth.access import LONGEST_AGE, PAUSE, IssuerUnavailable, KeySet
from tests.stubs.issuer import Issuer, as_new, issuer, jwk

pytestmark = pytest.mark.anyio


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def running() -> Generator[Issuer]:
    with issuer() as running:
        yield running


@pytest.fixture
def told(running: Issuer) -> Issuer:
    as_new(running)
    return running


async def test_keys_are_fetched_once_for_any_number_of_tokens(told: Issuer) -> None:
    keys = KeySet(told.url)
    assert told.asked == []

    async def ask() -> None:
        assert await keys.find("one", "RS256")

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(ask)
    assert told.asked == ["/jwks"]


async def test_an_unknown_key_is_asked_for_at_most_now_and_then(told: Issuer) -> None:
    clock = Clock()
    keys = KeySet(told.url, clock=clock)
    for number in range(50):
        assert await keys.find(f"made up {number}", "RS256") is None
    assert told.asked == ["/jwks"]
    told.keys.append(jwk("two", "ES256"))
    assert await keys.find("two", "ES256") is None
    clock.now += PAUSE
    found = await keys.find("two", "ES256")
    assert found is not None
    assert found.key_id == "two"
    assert len(told.asked) == 2


async def test_a_key_that_was_withdrawn_is_not_trusted_for_long(told: Issuer) -> None:
    clock = Clock()
    keys = KeySet(told.url, clock=clock)
    assert await keys.find("one", "RS256")
    told.keys = [jwk("two", "RS256", 1)]
    clock.now += LONGEST_AGE
    assert await keys.find("one", "RS256"), "for as long as that"
    clock.now += 1
    assert await keys.find("one", "RS256") is None


async def test_known_keys_outlive_their_issuer(
    told: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    keys = KeySet(told.url, clock=clock)
    assert await keys.find("one", "RS256")
    told.jwks = "error"
    clock.now += LONGEST_AGE + 1
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert await keys.find("one", "RS256")
    assert len([r for r in caplog.records if "cannot be fetched" in r.getMessage()]) == 1


async def test_only_keys_for_signing_and_of_the_tokens_algorithm_are_used(told: Issuer) -> None:
    told.keys = [
        jwk("encrypts", "RS256", use="enc"),
        {"kty": "oct", "k": "c2VjcmV0", "kid": "shared", "alg": "HS256"},
        jwk("rsa", "RS256"),
        jwk("ed", "EdDSA"),
        {"kty": "EC", "crv": "made-up", "kid": "odd"},
    ]
    keys = KeySet(told.url)
    assert await keys.find("encrypts", "RS256") is None
    assert await keys.find("rsa", "ES256") is None
    assert await keys.find("odd", "ES256") is None
    for kid, algorithm in (("rsa", "RS256"), ("ed", "EdDSA")):
        found = await keys.find(None, algorithm)
        assert found is not None, "the only one of its algorithm"
        assert found.key_id == kid
    told.keys.append(jwk("rsa 2", "RS256", 1))
    assert await KeySet(told.url).find(None, "RS256") is None, "one of two"


@pytest.mark.parametrize("path", ["", "/tenants/one"])
@pytest.mark.parametrize("openid_only", [False, True])
async def test_keys_are_found_by_either_kind_of_metadata(path: str, openid_only: bool) -> None:
    with issuer(path) as told:
        told.openid_only = openid_only
        assert await KeySet(told.url).find("one", "RS256")


async def test_keys_at_a_given_address_need_no_metadata(told: Issuer) -> None:
    assert await KeySet("https://issuer.example", f"{told.url}/jwks").find("one", "RS256")


@pytest.mark.parametrize("jwks_kind", ["large", "redirect", "error", "text"])
async def test_what_are_no_keys_is_no_answer(told: Issuer, jwks_kind: str) -> None:
    told.jwks = jwks_kind
    with pytest.raises(IssuerUnavailable) as caught:
        await KeySet(told.url).find("one", "RS256")
    assert "cannot be fetched" in str(caught.value)
    assert "/elsewhere" not in told.asked


async def test_metadata_of_another_issuer_and_keys_without_tls_are_refused(told: Issuer) -> None:
    told.names_itself = "https://other.example"
    with pytest.raises(IssuerUnavailable):
        await KeySet(told.url).fetch()
    told.names_itself, told.jwks_uri = None, "http://keys.example/jwks"
    with pytest.raises(IssuerUnavailable):
        await KeySet(told.url).fetch()
    assert told.asked == []


async def test_a_silent_issuer_is_not_waited_for(
    told: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sifaka_mcp.auth.access.FETCH_SECONDS", 0.2)
    told.jwks = "nothing"
    clock = Clock()
    keys = KeySet(told.url, clock=clock)
    with anyio.fail_after(60):
        with pytest.raises(IssuerUnavailable, match="cannot be fetched"):
            await keys.find("one", "RS256")
        with pytest.raises(IssuerUnavailable):
            await keys.find("one", "RS256")
    assert told.asked == ["/jwks"], "the second one was told at once"
    told.jwks = "keys"
    clock.now += PAUSE
    assert await keys.find("one", "RS256")
