"""Saying what is being done while a request waits."""

from collections.abc import Awaitable, Callable

from server.tools.answer import ToolContext
from sifaka.events import ChainEvent


def reporter(ctx: ToolContext) -> Callable[[ChainEvent], Awaitable[None]]:
    """A listener that reports each event of a run as progress of the request."""
    done = 0

    async def report(event: ChainEvent) -> None:
        nonlocal done
        done += 1
        await ctx.report_progress(done, message=f"{event.phase}: {event.message}")

    return report
