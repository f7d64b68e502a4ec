"""Limits one caller's share of the server: requests over time, and requests at the same time."""

import ipaddress
from collections import Counter
from collections.abc import Iterable

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sifaka_mcp.http.rate_limits import Rates
from sifaka_mcp.tenancy import tenant_of_request

_IPV6_SITE = 64
"""Bits of an IPv6 address that tell callers apart; the others each of them chooses at will."""


class Throttle:
    """Answers 429 to a caller who asks too much, before anything of the request's body is read.

    A caller is the tenant of a token, and without one the address that a request comes from.

    Args:
        app: What is asked.
        rates: How many requests in a while, if that is limited.
        most: How many requests at a time.
        unlimited: Paths that are always answered.
    """

    def __init__(
        self, app: ASGIApp, *, rates: Rates | None, most: int, unlimited: Iterable[str]
    ) -> None:
        self._app = app
        self._rates = rates
        self._most = most
        self._unlimited = frozenset(unlimited)
        self._under_way: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or tell its caller when to come back."""
        if scope["type"] != "http" or scope["path"] in self._unlimited:
            await self._app(scope, receive, send)
            return
        caller = caller_of(scope)
        if self._under_way[caller] >= self._most:
            refused = _refusal(1, f"{self._most} requests are under way already")
            await refused(scope, receive, send)
            return
        self._under_way[caller] += 1
        try:
            wait = await self._rates.wait_of(caller) if self._rates is not None else 0
            app = _refusal(wait, "too many requests") if wait else self._app
            await app(scope, receive, send)
        finally:
            self._under_way[caller] -= 1
            if not self._under_way[caller]:
                del self._under_way[caller]


def caller_of(scope: Scope) -> str:
    """The caller of a request: a tenant, or an address. No tenant is named like an address."""
    tenant = tenant_of_request()
    if tenant is not None:
        return f"tenant:{tenant}"
    host = scope["client"][0] if scope.get("client") else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"address:{host}"
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is None:
        host = str(ipaddress.ip_network((address, _IPV6_SITE), strict=False))
    return f"address:{host}"


def _refusal(seconds: int, reason: str) -> JSONResponse:
    return JSONResponse(
        {"error": "rate_limited", "error_description": f"{reason}, try again in {seconds} s"},
        status_code=429,
        headers={"retry-after": str(seconds)},
    )
