"""Improving a text, or writing one."""

from typing import Any

from sifaka._internal.blocking import run_blocking
from sifaka.chain import Chain, Listener, RunResult


async def improve(
    text: str = "", *, prompt: str = "", listen: Listener | None = None, **settings: Any
) -> RunResult:
    """Improve a text, or write one from a prompt.

    Without a model the run makes the edits that need none.

    Args:
        text: The text; it is version 0 and is kept unless a better version is found.
        prompt: The task in words.
        listen: Receives each event as it happens.
        **settings: The settings of `Chain`.

    Returns:
        The best version, never one that is worse than the input.

    Raises:
        ConfigurationError: There is neither a text nor a prompt, or a setting is wrong.
        StorageError: The store failed.
    """
    return await Chain(**settings).run(prompt, text=text, listen=listen)


def improve_sync(
    text: str = "", *, prompt: str = "", listen: Listener | None = None, **settings: Any
) -> RunResult:
    """Like `improve`, for code that cannot await."""
    return run_blocking(lambda: improve(text, prompt=prompt, listen=listen, **settings))
