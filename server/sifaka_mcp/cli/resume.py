"""`sifaka resume`: go on with a run where it was interrupted."""

import sys

import anyio

from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.runs import FileLeases, RunKey
from sifaka_mcp.view.progress import TerminalProgress

_PAUSE = 0.2
"""Seconds between two looks at a run that another process works on."""


ARGUMENTS = (opt.RUN, opt.OUT, opt.JSON)


async def run(session: Session) -> Ending:
    """Work on the run until it is done or waits for its caller."""
    session.aim_at(session.options.out)
    leases = FileLeases(session.settings.home / "running")
    run, chain = await session.reopen()
    key = RunKey(session.settings.tenant, run.run_id)
    try:
        # What another process of this machine works on is waited for, not asked for twice.
        while not await leases.claim(key):  # noqa: ASYNC110 - its end is no event here
            await anyio.sleep(_PAUSE)
        with TerminalProgress(sys.stderr, run) as progress:
            return session.finish(await chain.resume(run.run_id, listen=progress.show))
    finally:
        await leases.let_go(key)
