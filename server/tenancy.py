"""Whose runs a request may see: those of the subject of its token."""

import re
from hashlib import sha256

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import principal_components

TENANT = r"[\w.@-]{1,64}"
"""What the name of a tenant may be."""


def tenant_of_request() -> str | None:
    """The tenant of the request that is being answered; None when it came without a token.

    A subject that cannot be a tenant's name stands under its hash, and so does one that another
    name could be mistaken for.
    """
    token = get_access_token()
    if token is None:
        return None
    client, issuer, subject = principal_components(token)
    name = subject or client
    if issuer is None and re.fullmatch(TENANT, name):
        return name
    return f"~{sha256(f'{issuer} {name}'.encode()).hexdigest()[:40]}"
