"""`sifaka resume`: go on with a run where it was interrupted."""

import argparse
import sys

import anyio

from sifaka.chain import RunResult
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.document import check_target
from sifaka_mcp.cli.output import finish
from sifaka_mcp.cli.signals import resumable, termination_interrupts
from sifaka_mcp.runs import FileLeases, RunKey
from sifaka_mcp.settings import Settings
from sifaka_mcp.view.research_terminal import progress_of

_PAUSE = 0.2
"""Seconds between two looks at a run that another process works on."""


ARGUMENTS = (opt.RUN, opt.OUT, opt.JSON)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Work on the run until it is done or waits for its caller."""
    if options.out:
        check_target(options.out)
    leases = FileLeases(settings.home / "running")
    key = RunKey(settings.tenant, options.run_id)

    async def work() -> RunResult:
        async with opt.reopened(settings, options.run_id) as (run, chain):
            try:
                # What another process of this machine works on is waited for, not asked for twice.
                while not await leases.claim(key):  # noqa: ASYNC110 - its end is no event here
                    await anyio.sleep(_PAUSE)
                with progress_of(run, sys.stderr) as progress:
                    return await chain.resume(run.run_id, listen=progress.show)
            finally:
                await leases.let_go(key)

    with resumable(options, settings, options.out, options.run_id), termination_interrupts():
        result = anyio.run(work)
    return finish(result, as_json=options.json, out=options.out)
