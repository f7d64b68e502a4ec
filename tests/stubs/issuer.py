"""An authorization server on loopback: its keys, its metadata, and tokens as tests want them."""

import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import anyio
import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.stubs.served import in_thread

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


@cache
def private_key(algorithm: str, number: int) -> PrivateKey:
    """A key for an algorithm; another one for another number."""
    match algorithm[:2]:
        case "RS":
            return rsa.generate_private_key(public_exponent=65537, key_size=2048)
        case "ES":
            return ec.generate_private_key(ec.SECP256R1())
        case _:
            return ed25519.Ed25519PrivateKey.generate()


def jwk(kid: str, algorithm: str, number: int = 0, **more: str) -> dict[str, Any]:
    """The public half of a key, as issuers publish it."""
    public = private_key(algorithm, number).public_key()
    told = jwt.get_algorithm_by_name(algorithm).to_jwk(public, as_dict=True)
    return {**told, "kid": kid, "alg": algorithm, "use": "sig", **more}


@dataclass
class Issuer:
    """What it publishes, and what it was asked for."""

    url: str
    keys: list[dict[str, Any]] = field(default_factory=lambda: [jwk("one", "RS256")])
    asked: list[str] = field(default_factory=list[str])
    openid_only: bool = False
    names_itself: str | None = None
    jwks_uri: str | None = None
    jwks: str = "keys"
    """What `/jwks` answers: `keys`, `nothing` for ever, `large`, `redirect`, `error`, `text`."""

    def token(
        self, algorithm: str = "RS256", kid: str | None = "one", number: int = 0, **claims: Any
    ) -> str:
        """A token that is good for an hour; claims that are None are left out."""
        now = int(time.time())
        told = {
            "iss": self.url, "sub": "alice", "aud": "sifaka", "iat": now, "exp": now + 3600
        } | claims  # fmt: skip
        return jwt.encode(
            {name: value for name, value in told.items() if value is not None},
            private_key(algorithm, number),
            algorithm=algorithm,
            headers={"kid": kid} if kid is not None else None,
        )


@contextmanager
def issuer(path: str = "") -> Generator[Issuer]:
    """An authorization server; a path is that of one of many under the same host."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = f"http://127.0.0.1:{listener.getsockname()[1]}"
        told = Issuer(place + path)
        server = uvicorn.Server(
            uvicorn.Config(
                _application(told, place, path),
                log_config=None,
                lifespan="off",
                timeout_graceful_shutdown=0,
            )
        )
        with in_thread(server, listener):
            yield told


def as_new(told: Issuer) -> None:
    """Make an issuer what it was in the beginning."""
    for name, value in vars(Issuer(told.url)).items():
        setattr(told, name, value)


def _application(told: Issuer, place: str, path: str) -> Starlette:
    def metadata(_: Request) -> Response:
        name = told.names_itself or told.url
        return JSONResponse({"issuer": name, "jwks_uri": told.jwks_uri or f"{place}/jwks"})

    def oauth(request: Request) -> Response:
        return Response(status_code=404) if told.openid_only else metadata(request)

    async def keys(_: Request) -> Response:
        told.asked.append("/jwks")
        match told.jwks:
            case "nothing":
                await anyio.sleep_forever()
                raise AssertionError
            case "large":
                return JSONResponse({"keys": told.keys, "note": "x" * 1_000_000})
            case "redirect":
                return RedirectResponse(f"{place}/elsewhere")
            case "error":
                return Response(status_code=500)
            case "text":
                return Response("<html>")
            case _:
                return JSONResponse({"keys": told.keys})

    def elsewhere(_: Request) -> Response:
        told.asked.append("/elsewhere")
        return JSONResponse({"keys": told.keys})

    return Starlette(
        routes=[
            Route(f"/.well-known/oauth-authorization-server{path}", oauth),
            Route(f"{path}/.well-known/openid-configuration", metadata),
            Route("/jwks", keys),
            Route("/elsewhere", elsewhere),
        ]
    )
