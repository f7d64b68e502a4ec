"""The short way in: one call, one result."""

from typing import Any

from sifaka._internal.blocking import run_blocking
from sifaka.chain import Chain, RunResult


async def improve(text: str = "", *, prompt: str = "", **settings: Any) -> RunResult:
    """Refine a text, or write one for a prompt.

    Without a model it makes the edits that need none; see `Chain` for the settings.

    Returns:
        The best version so far, never one that is worse than the input.

    Raises:
        ConfigurationError: There is nothing to do, or a setting is wrong.
    """
    return await Chain(**settings).run(prompt, text=text)


def improve_sync(text: str = "", *, prompt: str = "", **settings: Any) -> RunResult:
    """Like `improve`, for code that cannot await."""
    return run_blocking(lambda: improve(text, prompt=prompt, **settings))
