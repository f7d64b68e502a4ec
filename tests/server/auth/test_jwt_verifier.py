"""Tokens of an authorization server: which are let in, as whom, and which are not."""

import base64
import json
import time
from collections.abc import Generator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sifaka_mcp.auth.access import JwtVerifier, KeySet
from tests.stubs.issuer import Issuer, issuer, jwk, private_key

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
