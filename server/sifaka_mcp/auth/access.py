"""The verifier of tokens that the settings ask for."""

from dataclasses import dataclass

from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings

from sifaka_mcp.auth.jwks import KeySet
from sifaka_mcp.auth.tokens_file import TokensFile
from sifaka_mcp.auth.verifiers import EitherVerifier, FileVerifier, JwtVerifier
from sifaka_mcp.settings.http import HttpSettings


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
    tokens = issued = None
    if settings.auth_tokens_file is not None:
        tokens = FileVerifier(
            TokensFile(settings.auth_tokens_file), resource=resource, scopes=settings.oauth_scopes
        )
    if settings.oauth_issuer is not None:
        issued = JwtVerifier(
            KeySet(settings.oauth_issuer, settings.oauth_jwks_url),
            issuer=settings.oauth_issuer,
            audience=settings.oauth_audience or resource,
            resource=resource,
        )
    verifier = EitherVerifier(tokens, issued) if tokens and issued else tokens or issued
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
