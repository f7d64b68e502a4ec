"""The public keys of an authorization server, fetched when they are needed and kept."""

import json
import logging
import time
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import httpx2
import jwt

from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError
from sifaka_mcp.settings.http import is_loopback

logger = logging.getLogger(__name__)

FETCH_SECONDS = 5.0
"""Seconds for fetching metadata and keys together."""
LARGEST = 512 * 1024
"""Bytes of either."""
PAUSE = 10.0
"""Seconds at least between two fetches, also when tokens name unknown keys meanwhile."""
LONGEST_AGE = 3600.0
"""Seconds after which the keys are fetched anew: one that was withdrawn is not trusted for long."""


class IssuerUnavailable(SifakaError):
    """The authorization server's keys cannot be had now, so no token of it can be checked."""

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
        self._fetched: float | None = None
        self._tried: float | None = None

    async def find(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The key a token was signed with; None when there is none.

        Args:
            kid: The name of the key; without one the key has to be the only one of its algorithm.
            algorithm: What the token was signed by.

        Raises:
            IssuerUnavailable: No keys are known, and none could be fetched.
        """
        found = self._known(kid, algorithm)
        if found is None or self._is_old():
            async with self._lock:
                # The task that held the lock may have fetched it.
                found = self._known(kid, algorithm)
                if (found is None or self._is_old()) and self._may_try():
                    await self._refresh()
                    found = self._known(kid, algorithm)
        if self._fetched is None:
            raise IssuerUnavailable(
                f"the keys of {self._issuer} cannot be fetched", "try again in a few seconds"
            )
        return found

    async def fetch(self) -> tuple[jwt.PyJWK, ...]:
        """Fetch the keys anew, also when some are known already.

        Raises:
            IssuerUnavailable: They cannot be had, or are no keys.
        """
        try:
            client = await anyio.to_thread.run_sync(_client)  # loads the trusted certificates
            with anyio.fail_after(FETCH_SECONDS):
                async with client:
                    url = self._url or await self._discover(client)
                    found = await _get(client, url)
                    return tuple(jwt.PyJWKSet.from_dict(found).keys)
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            reason = type(error).__name__
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError) as error:
            reason = f"no key set: {type(error).__name__}"
        raise IssuerUnavailable(
            f"the keys of {self._issuer} cannot be fetched: {reason}",
            "check SIFAKA_OAUTH_ISSUER and SIFAKA_OAUTH_JWKS_URL, and the way there",
        )

    def _known(self, kid: str | None, algorithm: str) -> jwt.PyJWK | None:
        usable = [
            key
            for key in self._keys
            if key.algorithm_name == algorithm and key.public_key_use in {None, "sig"}
        ]
        if kid is None:
            return usable[0] if len(usable) == 1 else None
        return next((key for key in usable if key.key_id == kid), None)

    def _is_old(self) -> bool:
        return self._fetched is None or self._clock() - self._fetched > LONGEST_AGE

    def _may_try(self) -> bool:
        return self._tried is None or self._clock() - self._tried >= PAUSE

    async def _refresh(self) -> None:
        self._tried = self._clock()
        try:
            self._keys = await self.fetch()
            self._fetched = self._clock()
        except IssuerUnavailable as error:
            report_failure(logger, "issuer", error)

    async def _discover(self, client: httpx2.AsyncClient) -> str:
        for url in metadata_urls(self._issuer):
            try:
                found = await _get(client, url)
            except httpx2.HTTPStatusError:
                continue
            # RFC 8414, section 3.3: else any metadata could stand in for the issuer's.
            if found.get("issuer") != self._issuer:
                raise ValueError("the metadata are of another issuer")
            return _safe(found["jwks_uri"])
        raise ValueError("there are no metadata")


def metadata_urls(issuer: str) -> tuple[str, str]:
    """The URLs of an issuer's metadata: RFC 8414, then OpenID Connect Discovery 1.0."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    place = f"{parts.scheme}://{parts.netloc}"
    return (
        f"{place}/.well-known/oauth-authorization-server{path}",
        f"{place}{path}/.well-known/openid-configuration",
    )


def _safe(url: object) -> str:
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or not (parts.scheme == "https" or is_loopback(parts.hostname or "")):
        raise ValueError("the keys are not behind TLS")
    return parts.geturl()


def _client() -> httpx2.AsyncClient:
    # What is fetched decides who is let in: nothing elsewhere may stand in for it.
    return httpx2.AsyncClient(follow_redirects=False, timeout=FETCH_SECONDS)


async def _get(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    async with client.stream("GET", url, headers={"accept": "application/json"}) as response:
        response.raise_for_status()  # of a redirection too
        content = bytearray()
        async for chunk in response.aiter_bytes(64 * 1024):
            content += chunk
            if len(content) > LARGEST:
                raise ValueError("too large")
    found: object = json.loads(bytes(content))
    if not isinstance(found, dict):
        raise TypeError("no object")
    return cast("dict[str, Any]", found)
