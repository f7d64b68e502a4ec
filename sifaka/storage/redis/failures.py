"""Errors of redis-py as `StorageError`, each with a suggestion."""

import re
from collections.abc import Generator
from contextlib import contextmanager

from sifaka.errors import StorageError

_LATER = True
_NEVER = False
_REASONS: tuple[tuple[tuple[str, ...], str, str, bool], ...] = (
    (
        # The last is what a long command gets to hear that nobody has introduced.
        (
            *("WRONGPASS", "NOAUTH", "AuthenticationError", "AuthorizationError"),
            *("invalid password", "unauthenticated"),
        ),
        "refuses the user name or the password",
        "check them in SIFAKA_STORE",
        _NEVER,
    ),
    (
        ("NOPERM", "NoPermissionError"),
        "does not let this user do that",
        "grant the keys of this tenant and the commands of examples/redis.acl",
        _NEVER,
    ),
    (
        ("OOM", "OutOfMemoryError"),
        "is out of memory, and nothing was stored",
        "raise its maxmemory, or let runs expire with ?ttl=7d",
        _LATER,
    ),
    (
        ("READONLY", "ReadOnlyError"),
        "is a read-only replica",
        "name the primary in SIFAKA_STORE, or wait until a failover is over",
        _LATER,
    ),
    (
        ("MISCONF",),
        "refuses writes because it cannot save them to its disk",
        "free some space on the server and look into its log",
        _LATER,
    ),
    (
        ("LOADING", "BusyLoadingError"),
        "is still loading its data",
        "try again in a moment",
        _LATER,
    ),
    (
        ("WRONGTYPE",),
        "holds something else under the key of a run",
        "choose another prefix with ?prefix=",
        _NEVER,
    ),
)
"""Codes or class names, what is wrong, what to do, and whether it may pass by itself."""


@contextmanager
def failures(server: str) -> Generator[None]:
    """Translate what redis-py and the network raise.

    Args:
        server: The URL of the server, without a password.
    """
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError) as error:
        raise _translated(server, error) from error


def silence(server: str) -> StorageError:
    """The error of a server that does not answer in time."""
    return StorageError(
        f"the store {server!r} does not answer", "check the server and try again", retryable=True
    )


def lost_connection(error: Exception) -> bool:
    """Whether the same command may well succeed over a new connection."""
    from redis import exceptions

    # Errors of authentication are connection errors to redis-py.
    refused = (exceptions.AuthenticationError, exceptions.AuthorizationError)
    return isinstance(error, exceptions.ConnectionError | OSError) and not isinstance(
        error, refused
    )


def _translated(server: str, error: Exception) -> StorageError:
    from redis import exceptions

    kinds = {kind.__name__ for kind in type(error).__mro__}
    text = str(error)
    for signs, what, advice, later in _REASONS:
        if any(sign in kinds or re.search(rf"(?:^|: )(?:\('|-)?{sign}\b", text) for sign in signs):
            return StorageError(f"the store {server!r} {what}", advice, retryable=later)
    if isinstance(error, exceptions.TimeoutError):
        return silence(server)
    if isinstance(error, exceptions.ConnectionError | OSError):
        return StorageError(
            f"the store {server!r} cannot be reached",
            "start the server, or check SIFAKA_STORE",
            retryable=True,
        )
    line = " ".join(text.split())[:200]
    return StorageError(f"the store {server!r} failed: {line}", "look into its log")
