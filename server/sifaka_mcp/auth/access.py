"""The verifiers of tokens that the settings ask for, and the keys of an issuer."""

import json
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2
import jwt
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings

from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError
from sifaka_mcp.auth.tokens_file import TokensFile
from sifaka_mcp.settings.http import HttpSettings, is_loopback
from sifaka_mcp.tenancy import READ, WRITE

logger = logging.getLogger(__name__)

ALGORITHMS = ("RS256", "ES256", "EdDSA")
"""Signatures by private keys only: no shared secrets, and never `none`."""
LEEWAY = 10.0
"""Seconds by which an issuer's clock may be ahead of ours."""
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
"""Of access tokens, where they say it; what else an issuer signs, such as logout tokens, has
others."""
_WITHHELD = "withheld"
"""In place of the token itself, which nothing behind this needs to know."""

FETCH_SECONDS = 5.0
"""Seconds for fetching metadata and keys together."""
LARGEST = 512 * 1024
"""Bytes of either."""
PAUSE = 10.0
"""Seconds at least between two fetches, also when tokens name unknown keys meanwhile."""
LONGEST_AGE = 3600.0
"""Seconds after which the keys are fetched anew: one that was withdrawn is not trusted for long."""


@dataclass(frozen=True, slots=True)
class Access:
    """The token verifier of the MCP SDK."""

    settings: AuthSettings
    verifier: TokenVerifier


def access_of(settings: HttpSettings, resource: str) -> Access | None:
    """The access that the settings ask for; None when no token is needed.

    Args:
        settings: Those of the server.
        resource: The URL under which clients know the server.

    Raises:
        ConfigurationError: The tokens file cannot be read, or is wrong.
    """
    # Without an authorization server there is nothing to advertise.
    values: dict[str, object] = {"issuer_url": resource, "resource_server_url": None}
    verifier = issued = None
    if settings.oauth_issuer is not None:
        verifier = issued = JwtVerifier(
            KeySet(settings.oauth_issuer, settings.oauth_jwks_url),
            issuer=settings.oauth_issuer,
            audience=settings.oauth_audience or resource,
            resource=resource,
        )
        values = {
            "issuer_url": settings.oauth_issuer,
            "resource_server_url": resource,
            "required_scopes": settings.oauth_scopes,
            "validate_token_resource": True,
        }
    if settings.auth_tokens_file is not None:
        verifier = FileVerifier(
            TokensFile(settings.auth_tokens_file),
            resource=resource,
            scopes=settings.oauth_scopes,
            others=issued,
        )
    if verifier is None:
        return None

    # Validated from strings, because a URL object has put a slash after a bare host already: then
    # the issuer would be another one.
    return Access(AuthSettings.model_validate(values), verifier)


@dataclass(frozen=True, slots=True)
class FileVerifier:
    """Tokens of a file.

    Args:
        tokens: The file.
        resource: The URL of this server, which they are all for.
        scopes: What every request needs; the file's tokens are good for that.
        others: Verifies a token that the file does not have.
    """

    tokens: TokensFile
    resource: str
    scopes: tuple[str, ...]
    others: "JwtVerifier | None" = None

    async def verify_token(self, token: str) -> AccessToken | None:
        """The access of a token; None when it is unknown or has expired."""
        grant = self.tokens.grant(token)
        if grant is None:
            return await self.others.verify_token(token) if self.others else None
        return AccessToken(
            token=_WITHHELD,
            client_id=grant.tenant,
            subject=grant.tenant,
            scopes=[*(grant.scopes or (READ, WRITE)), *self.scopes],
            expires_at=None if grant.expires is None else int(grant.expires.timestamp()),
            resource=self.resource,
        )


@dataclass(frozen=True, slots=True)
class JwtVerifier:
    """Tokens that an authorization server signed, after RFC 9068.

    Args:
        keys: Its keys.
        issuer: What the tokens name as their issuer.
        audience: What they name as their audience, or as one of them.
        resource: The URL of this server, which that audience stands for.
    """

    keys: "KeySet"
    issuer: str
    audience: str
    resource: str

    async def verify_token(self, token: str) -> AccessToken | None:
        """The access of a token; None when it is not valid here and now.

        Raises:
            IssuerUnavailable: The keys to check it with cannot be fetched.
        """
        try:
            header = jwt.get_unverified_header(token)
            if str(header.get("typ", "JWT")).lower() not in _TYPES:
                raise jwt.InvalidTokenError
            algorithm = header.get("alg")
            if algorithm not in ALGORITHMS:
                raise jwt.InvalidAlgorithmError
            key = await self.keys.find(header.get("kid"), algorithm)
            if key is None:
                raise jwt.InvalidKeyError
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self.audience,
                issuer=self.issuer,
                leeway=LEEWAY,
                options={
                    "require": ["iss", "aud", "exp", "sub"],
                    "enforce_minimum_key_length": True,
                },
            )
            if not claims["sub"]:
                raise jwt.InvalidTokenError
        except jwt.PyJWTError as error:
            # Of the class alone: the words of some of them quote the token.
            logger.info("a token is refused: %s", type(error).__name__)
            return None
        return AccessToken(
            token=_WITHHELD,
            client_id=str(claims.get("client_id") or claims.get("azp") or ""),
            subject=claims["sub"],
            scopes=_read_scopes(claims),
            expires_at=int(claims["exp"]),
            resource=self.resource,
            claims={"iss": self.issuer},
        )


def _read_scopes(claims: Mapping[str, Any]) -> list[str]:
    """The scopes of RFC 9068, or in the claim that Microsoft and Okta use."""
    claim = claims.get("scope", claims.get("scp", ""))
    if isinstance(claim, str):
        return claim.split()
    return [str(scope) for scope in cast("list[object]", claim)] if isinstance(claim, list) else []


class IssuerUnavailable(SifakaError):
    """The authorization server's keys cannot be fetched now, so no token of it can be checked."""

    retryable = True


class KeySet:
    """The keys of an issuer. Any number of tasks may share it.

    Args:
        issuer: The authorization server.
        url: Where its keys are; None asks its metadata (RFC 8414, then OpenID Connect Discovery).
        clock: Seconds of a clock that never goes back.
    """

    def __init__(
        self, issuer: str, url: str | None = None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._issuer = issuer
        self._url = url
        self._clock = clock
        self._lock = anyio.Lock()
        self._keys: tuple[jwt.PyJWK, ...] = ()
        self._fetched = self._tried = -math.inf

    async def find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The key a token was signed with; None when there is none.

        Args:
            kid: The name of the key; without one the key has to be the only one of its algorithm.
            algorithm: What the token was signed by.

        Raises:
            IssuerUnavailable: No keys are known, and none could be fetched.
        """
        if self._needs_fetch(kid, algorithm):
            async with self._lock:
                # The task that held the lock may have fetched it.
                if self._needs_fetch(kid, algorithm) and self._clock() - self._tried >= PAUSE:
                    self._tried = self._clock()
                    try:
                        self._keys = await self.fetch()
                        self._fetched = self._clock()
                    except IssuerUnavailable as error:
                        report_failure(logger, "issuer", error)
        if self._fetched == -math.inf:
            raise IssuerUnavailable(
                f"the keys of {self._issuer} cannot be fetched", "try again in a few seconds"
            )
        return self._pick_key(kid, algorithm)

    def _needs_fetch(self, kid: str | None, algorithm: str) -> bool:
        """True when a key is unknown, or those that are known are old."""
        return self._clock() - self._fetched > LONGEST_AGE or self._pick_key(kid, algorithm) is None

    async def fetch(self) -> tuple[jwt.PyJWK, ...]:
        """Fetch the keys anew, also when some are known already.

        Raises:
            IssuerUnavailable: They cannot be fetched, or are no keys.
        """
        try:
            # In a thread, for it loads the trusted certificates. What is fetched decides who is let
            # in: nothing elsewhere may stand in for it.
            client = await anyio.to_thread.run_sync(
                partial(httpx2.AsyncClient, follow_redirects=False, timeout=FETCH_SECONDS)
            )
            with anyio.fail_after(FETCH_SECONDS):
                async with client:
                    key_set = await _get_json(client, self._url or await self._discover(client))
                    return tuple(jwt.PyJWKSet.from_dict(key_set).keys)
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            reason = type(error).__name__
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError) as error:
            reason = f"no key set: {type(error).__name__}"
        raise IssuerUnavailable(
            f"the keys of {self._issuer} cannot be fetched: {reason}",
            "check SIFAKA_OAUTH_ISSUER and SIFAKA_OAUTH_JWKS_URL, and the way there",
        )

    def _pick_key(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        usable = [
            key
            for key in self._keys
            if key.algorithm_name == algorithm and key.public_key_use in {None, "sig"}
        ]
        if kid is None:
            return usable[0] if len(usable) == 1 else None
        return next((key for key in usable if key.key_id == kid), None)

    async def _discover(self, client: httpx2.AsyncClient) -> str:
        """The URL of the keys, by RFC 8414, then OpenID Connect Discovery 1.0."""
        parts = urlsplit(self._issuer)
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        for url in (
            f"{origin}/.well-known/oauth-authorization-server{path}",
            f"{origin}{path}/.well-known/openid-configuration",
        ):
            try:
                metadata = await _get_json(client, url)
            except httpx2.HTTPStatusError:
                continue
            # RFC 8414, section 3.3: else any metadata could stand in for the issuer's.
            if metadata.get("issuer") != self._issuer:
                raise ValueError("the metadata are of another issuer")
            keys = urlsplit(str(metadata["jwks_uri"]))
            if keys.scheme != "https" and not is_loopback(keys.hostname or ""):
                raise ValueError("the keys are not behind TLS")
            return keys.geturl()
        raise ValueError("there are no metadata")


async def _get_json(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    async with client.stream("GET", url, headers={"accept": "application/json"}) as response:
        response.raise_for_status()  # of a redirection too
        content = bytearray()
        async for chunk in response.aiter_bytes(64 * 1024):
            content += chunk
            if len(content) > LARGEST:
                raise ValueError("too large")
    data: object = json.loads(bytes(content))
    if not isinstance(data, dict):
        raise TypeError("no object")
    return cast("dict[str, Any]", data)
