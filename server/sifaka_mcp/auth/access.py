"""The verifier of tokens that the settings ask for, as the MCP SDK wants it."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import jwt
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings

from sifaka_mcp.auth.jwks import KeySet
from sifaka_mcp.auth.tokens_file import TokensFile
from sifaka_mcp.settings.http import HttpSettings
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
"""Stands for the token itself, which nothing behind this needs to know."""


@dataclass(frozen=True, slots=True)
class Access:
    """The token verifier of the MCP SDK."""

    settings: AuthSettings
    verifier: TokenVerifier


def access_of(settings: HttpSettings, resource: str) -> Access | None:
    """The access that the settings ask for; None when no token is needed.

    Args:
        settings: What the server was told.
        resource: The URL under which clients know the server.

    Raises:
        ConfigurationError: The tokens file cannot be read, or is wrong.
    """
    verifier = issued = None
    if settings.oauth_issuer is not None:
        issued = JwtVerifier(
            KeySet(settings.oauth_issuer, settings.oauth_jwks_url),
            issuer=settings.oauth_issuer,
            audience=settings.oauth_audience or resource,
            resource=resource,
        )
        verifier = issued
    if settings.auth_tokens_file is not None:
        verifier = FileVerifier(
            TokensFile(settings.auth_tokens_file),
            resource=resource,
            scopes=settings.oauth_scopes,
            others=issued,
        )
    if verifier is None:
        return None
    if issued is None:
        # Without an authorization server there is nothing to advertise.
        told = {"issuer_url": resource, "resource_server_url": None}
    else:
        told = {
            "issuer_url": settings.oauth_issuer,
            "resource_server_url": resource,
            "required_scopes": settings.oauth_scopes,
            "validate_token_resource": True,
        }
    # Validated from strings, because a URL object has put a slash after a bare host already: then
    # the issuer would be another one.
    return Access(AuthSettings.model_validate(told), verifier)


class FileVerifier:
    """Tokens of a file.

    Args:
        tokens: The file.
        resource: The URL of this server, which they are all for.
        scopes: What every request needs; the file's tokens are good for that.
        others: Verifies a token that the file does not have.
    """

    def __init__(
        self,
        tokens: TokensFile,
        *,
        resource: str,
        scopes: tuple[str, ...],
        others: "JwtVerifier | None" = None,
    ) -> None:
        self._tokens, self._others = tokens, others
        self._resource = resource
        self._scopes = scopes

    async def verify_token(self, token: str) -> AccessToken | None:
        """The access of a token; None when it is unknown or has expired."""
        grant = self._tokens.grant(token)
        if grant is None:
            return await self._others.verify_token(token) if self._others else None
        return AccessToken(
            token=_WITHHELD,
            client_id=grant.tenant,
            subject=grant.tenant,
            scopes=[*(grant.scopes or (READ, WRITE)), *self._scopes],
            expires_at=None if grant.expires is None else int(grant.expires.timestamp()),
            resource=self._resource,
        )


class JwtVerifier:
    """Tokens that an authorization server signed, after RFC 9068.

    Args:
        keys: Its keys.
        issuer: What the tokens name as their issuer.
        audience: What they name as their audience, or as one of them.
        resource: The URL of this server, which that audience stands for.
    """

    def __init__(self, keys: KeySet, *, issuer: str, audience: str, resource: str) -> None:
        self._keys = keys
        self._issuer = issuer
        self._audience = audience
        self._resource = resource

    async def verify_token(self, token: str) -> AccessToken | None:
        """The access of a token; None when it is not valid here and now.

        Raises:
            IssuerUnavailable: The keys to check it with cannot be had.
        """
        try:
            header = jwt.get_unverified_header(token)
            if str(header.get("typ", "JWT")).lower() not in _TYPES:
                raise jwt.InvalidTokenError
            algorithm = header.get("alg")
            if algorithm not in ALGORITHMS:
                raise jwt.InvalidAlgorithmError
            key = await self._keys.find(header.get("kid"), algorithm)
            if key is None:
                raise jwt.InvalidKeyError
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._issuer,
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
            scopes=_scopes(claims),
            expires_at=int(claims["exp"]),
            resource=self._resource,
            claims={"iss": self._issuer},
        )


def _scopes(claims: Mapping[str, Any]) -> list[str]:
    """The scopes of RFC 9068, or in the claim that Microsoft and Okta use."""
    told = claims.get("scope", claims.get("scp", ""))
    if isinstance(told, str):
        return told.split()
    return [str(scope) for scope in cast("list[object]", told)] if isinstance(told, list) else []
