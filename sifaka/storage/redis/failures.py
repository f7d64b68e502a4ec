"""Errors of redis-py as `StorageError`, each with a suggestion."""

import re
from collections.abc import Generator
from contextlib import contextmanager

from sifaka.errors import StorageError

_REASONS: tuple[tuple[str, str, str, bool], ...] = (
    (
        # `unauthenticated` is the answer to a long command before a login.
        "WRONGPASS|NOAUTH|AuthenticationError|AuthorizationError|invalid password|unauthenticated",
        "refuses the user name or the password",
        "check them in SIFAKA_STORE",
        False,
    ),
    (
        "NOPERM|NoPermissionError",
        "does not let this user do that",
        "grant the keys of this tenant and the commands of examples/redis.acl",
        False,
    ),
    (
        "OOM|OutOfMemoryError",
        "is out of memory, and nothing was stored",
        "raise its maxmemory, or let runs expire with ?ttl=7d",
        True,
    ),
    (
        "READONLY|ReadOnlyError",
        "is a read-only replica",
        "name the primary in SIFAKA_STORE, or wait until a failover is over",
        True,
    ),
    (
        "MISCONF",
        "refuses writes because it cannot save them to its disk",
        "free some space on the server and look into its log",
        True,
    ),
    ("LOADING|BusyLoadingError", "is still loading its data", "try again in a moment", True),
    (
        "WRONGTYPE",
        "holds something else under the key of a run",
        "choose another prefix with ?prefix=",
        False,
    ),
    ("TimeoutError", "does not answer", "check the server and try again", True),
    (
        "ConnectionError|OSError",
        "cannot be reached",
        "start the server, or check SIFAKA_STORE",
        True,
    ),
)
"""Codes or class names, the fault, the suggestion, and whether it may pass by itself."""


@contextmanager
def failures(server: str) -> Generator[None]:
    """Translate the errors of redis-py and the network."""
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError) as error:
        raise _translated(server, error) from error


def lost_connection(error: Exception) -> bool:
    """True when the same command may well succeed over a new connection."""
    from redis import exceptions

    # Errors of authentication are connection errors to redis-py.
    refused = (exceptions.AuthenticationError, exceptions.AuthorizationError)
    return isinstance(error, exceptions.ConnectionError | OSError) and not isinstance(
        error, refused
    )


def _translated(server: str, error: Exception) -> StorageError:
    kinds = "\n".join(kind.__name__ for kind in type(error).__mro__)
    text = str(error)
    for signs, what, advice, later in _REASONS:
        if re.search(rf"(?m)^(?:{signs})$", kinds) or re.search(
            rf"(?:^|: )(?:\('|-)?(?:{signs})\b", text
        ):
            return StorageError(f"the store {server!r} {what}", advice, retryable=later)
    line = " ".join(text.split())[:200]
    return StorageError(f"the store {server!r} failed: {line}", "look into its log")
