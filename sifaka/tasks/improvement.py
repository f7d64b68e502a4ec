"""Improving a text, or writing one."""

from typing import Unpack

from sifaka._internal.blocking import run_blocking
from sifaka.chain import Chain, ChainOptions, Listener, RunResult


async def improve(
    text: str = "", *, listen: Listener | None = None, **options: Unpack[ChainOptions]
) -> RunResult:
    """Improve a text, or write one from a prompt.

    Without a model the run makes the edits that need none.

    Args:
        text: The text; it is version 0 and is kept unless a better version is found.
        listen: Receives each event as it happens.
        **options: Those of `Chain`, such as `prompt`, the task in words.

    Returns:
        The best version, never one that is worse than the input.

    Raises:
        ConfigurationError: There is neither a text nor a prompt, or a setting is wrong.
        StorageError: The store failed.
    """
    return await Chain(**options).run(text=text, listen=listen)


def improve_sync(
    text: str = "", *, listen: Listener | None = None, **options: Unpack[ChainOptions]
) -> RunResult:
    """Like `improve`, for code that cannot await."""
    return run_blocking(lambda: improve(text, listen=listen, **options))
