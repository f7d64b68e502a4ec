"""Maps a request to its tenant and its scopes."""

import ipaddress
import math
import re
import time
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken
    from starlette.types import Scope

TENANT = r"[\w.@-]{1,64}"
"""The form of a tenant's name."""
READ, WRITE = "sifaka:read", "sifaka:write"
"""The scopes of tokens. One with neither of them is good for everything."""
NEEDS_WRITE = f"ask for one with the scope {WRITE}"
"""What helps the bearer of a token for reading only."""
_SITE_BITS = 64
"""Bits of an IPv6 address that each caller chooses at will, and that tell no callers apart."""


def tenant_of_request() -> str | None:
    """The tenant of the request that is being answered; None when it came without a token.

    A subject that cannot be a tenant's name is replaced by its hash, and so is one that another
    name could be mistaken for. `--tenant` takes both; no token names a hash.
    """
    token = _token_of_request()
    if token is None:
        return None
    from mcp.server.auth.provider import principal_components

    client, issuer, subject = principal_components(token)
    name = subject or client
    if issuer is None and re.fullmatch(TENANT, name):
        return name
    return f"~{sha256(f'{issuer} {name}'.encode('utf-8', 'surrogatepass')).hexdigest()[:40]}"


def caller_of(scope: "Scope") -> str:
    """The caller of a request: a tenant, or an address. No tenant is named like an address.

    An address is the same in each of its forms. Requests whose proxy gives none that is valid are
    those of one caller.
    """
    tenant = tenant_of_request()
    if tenant is not None:
        return f"tenant:{tenant}"
    host: str = scope["client"][0].strip() if scope.get("client") else ""
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:  # some proxies give the port as well
        host = host.partition(":")[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "address:unknown"
    if isinstance(address, ipaddress.IPv6Address):
        site = ipaddress.IPv6Address(int(address) >> _SITE_BITS << _SITE_BITS)
        address = address.ipv4_mapped or site
    return f"address:{address}"


def bearer_of(scope: "Scope") -> object:
    """What tells the bearer of a request from others, and its rights from other rights.

    A token from a file is a bearer of its own; an issuer's are renewed, so their client and subject
    are. None without a token.
    """
    token = _token_of_request()
    if token is None:
        return None
    from mcp.server.auth.provider import principal_components

    client, issuer, subject = principal_components(token)
    header = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
    own = sha256(header.split()[-1]).digest() if issuer is None else (client, issuer, subject)
    return own, may_only_read()


def seconds_left() -> float:
    """Seconds for which the token of the current request is valid; infinity without a limit."""
    token = _token_of_request()
    if token is None or token.expires_at is None:
        return math.inf
    return max(0.0, token.expires_at - time.time())


def may_only_read() -> bool:
    """True when the current request came with a token for reading only."""
    token = _token_of_request()
    return token is not None and READ in token.scopes and WRITE not in token.scopes


def _token_of_request() -> "AccessToken | None":
    # Settings take the form of a name from this module, and a command does without the protocol.
    from mcp.server.auth.middleware.auth_context import get_access_token

    return get_access_token()
