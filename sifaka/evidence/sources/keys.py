"""Keys of sources as the HTTP header that carries them."""

import base64
import re
from typing import Literal

from sifaka.errors import ConfigurationError

Scheme = Literal["ApiKey", "Bearer"]
_WITH_SCHEME = re.compile(r"(ApiKey|Bearer|Basic) +(\S+)", re.IGNORECASE)
_TOKEN = re.compile(r"[\x21-\x7e]+")


def authorization(secret: str, *, bare: Scheme = "Bearer") -> str:
    """The value of the header `Authorization`.

    Args:
        secret: `user:password`, a value with its scheme such as `ApiKey ...` or `Bearer ...`, or a
            bare token.
        bare: The scheme of a bare token, as the kind of source has it.

    Raises:
        ConfigurationError: It cannot be sent; nothing of it is in the message.
    """
    told = secret.strip()
    if (named := _WITH_SCHEME.fullmatch(told)) and _TOKEN.fullmatch(named[2]):
        return f"{named[1]} {named[2]}"
    if ":" in told and told.isprintable():
        return f"Basic {base64.b64encode(told.encode()).decode()}"
    if _TOKEN.fullmatch(told) and told.casefold() not in {"apikey", "bearer", "basic"}:
        return f"{bare} {told}"
    raise ConfigurationError(
        "the key is neither user:password, nor `ApiKey ...`, nor `Bearer ...`, nor a token",
        "a token has no spaces and no characters outside ASCII",
    )


def secrets_of(keys: str) -> tuple[str, ...]:
    """Whatever must not be told of a list such as `name=user:password,other=Bearer token`."""
    found: list[str] = []
    for _, secret in named_keys(keys):
        found += [secret, secret.rpartition(" ")[2], secret.partition(":")[2]]
    return tuple(value for value in found if value)


def named_keys(keys: str) -> tuple[tuple[str, str], ...]:
    """The names of a list such as `name=secret,other=secret`, each with its secret.

    A comma in a secret is written `%2C`. What has no `=` is a secret without a name.
    """
    parts = (part.strip().partition("=") for part in keys.split(",") if part.strip())
    return tuple(
        (name.strip() if equals else "", _with_commas((secret if equals else name).strip()))
        for name, equals, secret in parts
    )


def _with_commas(secret: str) -> str:
    return re.sub("%2c", ",", secret, flags=re.IGNORECASE)
