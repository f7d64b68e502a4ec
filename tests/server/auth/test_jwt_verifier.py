"""Tokens of an authorization server, which are let in, and the keys of their issuer."""

import base64
import json
import logging
import time
from collections.abc import Generator
from typing import Any

import anyio
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sifaka_mcp.auth.access import LONGEST_AGE, PAUSE, IssuerUnavailable, JwtVerifier, KeySet
from tests.stubs.issuer import Issuer, as_new, issuer, jwk, private_key

pytestmark = pytest.mark.anyio


RESOURCE = "http://127.0.0.1:8000/mcp"


@pytest.fixture(scope="module")
def told() -> Generator[Issuer]:
    with issuer() as running:
        running.keys = [
            jwk("one", "RS256"), jwk("two", "ES256"), jwk("three", "EdDSA"),
            jwk("encrypts", "RS256", use="enc"),
        ]  # fmt: skip
        yield running


@pytest.fixture
def verifier(told: Issuer) -> JwtVerifier:
    return JwtVerifier(KeySet(told.url), issuer=told.url, audience="sifaka", resource=RESOURCE)


@pytest.mark.parametrize(
    ("algorithm", "kid"), [("RS256", "one"), ("ES256", "two"), ("EdDSA", "three"), ("ES256", None)]
)
async def test_signatures_by_private_keys_are_let_in(
    verifier: JwtVerifier, told: Issuer, algorithm: str, kid: str | None
) -> None:
    token = told.token(algorithm, kid, scope="sifaka:read other", client_id="app")
    found = await verifier.verify_token(token)
    assert found is not None
    assert (found.subject, found.client_id, found.resource) == ("alice", "app", RESOURCE)
    assert found.scopes == ["sifaka:read", "other"]
    assert found.claims == {"iss": told.url}
    assert token not in repr(found), "what stands behind this needs no token"


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": int(time.time()) - 60},
        {"exp": None},
        {"exp": "tomorrow"},
        {"nbf": int(time.time()) + 86_400},
        {"iat": int(time.time()) + 86_400},
        {"aud": "another server"},
        {"aud": ["another", "third"]},
        {"aud": None},
        {"iss": "https://other.example"},
        {"iss": None},
        {"sub": None},
        {"sub": ""},
        {"sub": 17},
        {"exp": float("inf")},
    ],
    ids=" ".join,
)
async def test_a_token_for_another_time_place_or_of_somebody_else_is_not(
    verifier: JwtVerifier, told: Issuer, claims: dict[str, Any]
) -> None:
    if isinstance(claims.get("iss", ""), str) and not isinstance(claims.get("sub"), int):
        token = told.token(**claims)
    else:  # PyJWT would not make these
        token = signed(told, {**base(told), **claims})
    assert await verifier.verify_token(token) is None


def base(told: Issuer) -> dict[str, Any]:
    return {"iss": told.url, "sub": "alice", "aud": "sifaka", "exp": int(time.time()) + 600}


def signed(told: Issuer, claims: dict[str, Any], **header: Any) -> str:
    """A token with a true signature, whatever is in it."""
    payload = json.dumps({k: v for k, v in claims.items() if v is not None}).encode()
    return jwt.api_jws.encode(
        payload, private_key("RS256", 0), algorithm="RS256", headers={"kid": "one", **header}
    )


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


async def test_a_token_that_nobody_signed_is_not(verifier: JwtVerifier, told: Issuer) -> None:
    for algorithm in ("none", "None", "NONE", ""):
        header = part({"alg": algorithm, "typ": "JWT", "kid": "one"})
        for signature in ("", "eA"):
            assert await verifier.verify_token(f"{header}.{part(base(told))}.{signature}") is None


async def test_a_public_key_is_no_shared_secret(verifier: JwtVerifier, told: Issuer) -> None:
    public = private_key("RS256", 0).public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    hmac = jwt.get_algorithm_by_name("HS256")
    header = part({"alg": "HS256", "typ": "JWT", "kid": "one"})
    signing = f"{header}.{part(base(told))}"
    signature = base64.urlsafe_b64encode(hmac.sign(signing.encode(), pem)).rstrip(b"=").decode()
    assert await verifier.verify_token(f"{signing}.{signature}") is None


async def test_another_key_or_algorithm_is_not(verifier: JwtVerifier, told: Issuer) -> None:
    for token in (
        told.token("RS256", "one", 1),
        told.token("RS256", "encrypts"),
        told.token("RS256", "unknown"),
        told.token("ES256", "one"),
        told.token("RS512", "one"),
    ):
        assert await verifier.verify_token(token) is None


async def test_a_token_that_was_changed_is_not(verifier: JwtVerifier, told: Issuer) -> None:
    header, _, signature = told.token().split(".")
    forged = part({**base(told), "sub": "bob"})
    assert await verifier.verify_token(f"{header}.{forged}.{signature}") is None
    assert await verifier.verify_token(signed(told, base(told), crit=["x"], x=1)) is None
    assert await verifier.verify_token(signed(told, base(told))) is not None


async def test_other_things_an_issuer_signs_are_not(verifier: JwtVerifier, told: Issuer) -> None:
    for kind in ("JWT", "at+jwt", "application/at+jwt", "AT+JWT"):
        assert await verifier.verify_token(signed(told, base(told), typ=kind)) is not None
    for kind in ("logout+jwt", "dpop+jwt", "secevent+jwt"):
        assert await verifier.verify_token(signed(told, base(told), typ=kind)) is None, kind


@pytest.mark.parametrize("token", ["", "a", "a.b.c", "a" * 9000, ".".join("\xff\xff\xff"), "..."])
async def test_what_is_no_token_is_not(verifier: JwtVerifier, token: str) -> None:
    assert await verifier.verify_token(token) is None


async def test_one_audience_is_enough_and_scopes_may_be_a_list(
    verifier: JwtVerifier, told: Issuer
) -> None:
    found = await verifier.verify_token(told.token(aud=["other", "sifaka"], scp=["a", "b"]))
    assert found is not None
    assert found.scopes == ["a", "b"]


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def running() -> Generator[Issuer]:
    with issuer() as running:
        yield running


@pytest.fixture
def fresh(running: Issuer) -> Issuer:
    as_new(running)
    return running


async def test_keys_are_fetched_once_for_any_number_of_tokens(fresh: Issuer) -> None:
    keys = KeySet(fresh.url)
    assert fresh.asked == []

    async def ask() -> None:
        assert await keys.find("one", "RS256")

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(ask)
    assert fresh.asked == ["/jwks"]


async def test_an_unknown_key_is_asked_for_at_most_now_and_then(fresh: Issuer) -> None:
    clock = Clock()
    keys = KeySet(fresh.url, clock=clock)
    for number in range(50):
        assert await keys.find(f"made up {number}", "RS256") is None
    assert fresh.asked == ["/jwks"]
    fresh.keys.append(jwk("two", "ES256"))
    assert await keys.find("two", "ES256") is None
    clock.now += PAUSE
    found = await keys.find("two", "ES256")
    assert found is not None
    assert found.key_id == "two"
    assert len(fresh.asked) == 2


async def test_a_key_that_was_withdrawn_is_not_trusted_for_long(fresh: Issuer) -> None:
    clock = Clock()
    keys = KeySet(fresh.url, clock=clock)
    assert await keys.find("one", "RS256")
    fresh.keys = [jwk("two", "RS256", 1)]
    clock.now += LONGEST_AGE
    assert await keys.find("one", "RS256"), "for as long as that"
    clock.now += 1
    assert await keys.find("one", "RS256") is None


async def test_known_keys_outlive_their_issuer(
    fresh: Issuer, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    keys = KeySet(fresh.url, clock=clock)
    assert await keys.find("one", "RS256")
    fresh.jwks = "error"
    clock.now += LONGEST_AGE + 1
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert await keys.find("one", "RS256")
    assert len([r for r in caplog.records if "cannot be fetched" in r.getMessage()]) == 1


async def test_only_keys_for_signing_and_of_the_tokens_algorithm_are_used(fresh: Issuer) -> None:
    fresh.keys = [
        jwk("encrypts", "RS256", use="enc"),
        {"kty": "oct", "k": "c2VjcmV0", "kid": "shared", "alg": "HS256"},
        jwk("rsa", "RS256"),
        jwk("ed", "EdDSA"),
        {"kty": "EC", "crv": "made-up", "kid": "odd"},
    ]
    keys = KeySet(fresh.url)
    assert await keys.find("encrypts", "RS256") is None
    assert await keys.find("rsa", "ES256") is None
    assert await keys.find("odd", "ES256") is None
    for kid, algorithm in (("rsa", "RS256"), ("ed", "EdDSA")):
        found = await keys.find(None, algorithm)
        assert found is not None, "the only one of its algorithm"
        assert found.key_id == kid
    fresh.keys.append(jwk("rsa 2", "RS256", 1))
    assert await KeySet(fresh.url).find(None, "RS256") is None, "one of two"


@pytest.mark.parametrize("path", ["", "/tenants/one"])
@pytest.mark.parametrize("openid_only", [False, True])
async def test_keys_are_found_by_either_kind_of_metadata(path: str, openid_only: bool) -> None:
    with issuer(path) as fresh:
        fresh.openid_only = openid_only
        assert await KeySet(fresh.url).find("one", "RS256")


async def test_keys_at_a_given_address_need_no_metadata(fresh: Issuer) -> None:
    assert await KeySet("https://issuer.example", f"{fresh.url}/jwks").find("one", "RS256")


@pytest.mark.parametrize("jwks_kind", ["large", "redirect", "error", "text"])
async def test_what_are_no_keys_is_no_answer(fresh: Issuer, jwks_kind: str) -> None:
    fresh.jwks = jwks_kind
    with pytest.raises(IssuerUnavailable) as caught:
        await KeySet(fresh.url).find("one", "RS256")
    assert "cannot be fetched" in str(caught.value)
    assert "/elsewhere" not in fresh.asked


async def test_metadata_of_another_issuer_and_keys_without_tls_are_refused(fresh: Issuer) -> None:
    fresh.names_itself = "https://other.example"
    with pytest.raises(IssuerUnavailable):
        await KeySet(fresh.url).fetch()
    fresh.names_itself, fresh.jwks_uri = None, "http://keys.example/jwks"
    with pytest.raises(IssuerUnavailable):
        await KeySet(fresh.url).fetch()
    assert fresh.asked == []


async def test_a_silent_issuer_is_not_waited_for(
    fresh: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sifaka_mcp.auth.access.FETCH_SECONDS", 0.2)
    fresh.jwks = "nothing"
    clock = Clock()
    keys = KeySet(fresh.url, clock=clock)
    with anyio.fail_after(60):
        with pytest.raises(IssuerUnavailable, match="cannot be fetched"):
            await keys.find("one", "RS256")
        with pytest.raises(IssuerUnavailable):
            await keys.find("one", "RS256")
    assert fresh.asked == ["/jwks"], "the second one was fresh at once"
    fresh.jwks = "keys"
    clock.now += PAUSE
    assert await keys.find("one", "RS256")
