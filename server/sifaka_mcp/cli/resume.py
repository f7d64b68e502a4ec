"""`sifaka resume`: go on with a run where it was interrupted."""

import argparse
import sys

import anyio

from sifaka.chain import Chain, RunResult
from sifaka.plugins import Plugins
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.document import check_target, write_text
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
    store = settings.open_store()
    leases = FileLeases(settings.home / "running")
    key = RunKey(settings.tenant, options.run_id)

    async def work() -> RunResult:
        try:
            await opt.check_store(store)
            run = await store.load(options.run_id)
            plugins = Plugins(settings.plugins)
            # Those of the command that began it, or else the configured ones.
            own = () if run.config.inquiry is None else run.config.inquiry.sources
            async with settings.open_adapters(store, own) as adapters:
                chain = Chain.of_config(run.config, store=store, plugins=plugins, adapters=adapters)
                # What another process of this machine works on is waited for, not asked for twice.
                while not await leases.claim(key):  # noqa: ASYNC110 - its end is no event here
                    await anyio.sleep(_PAUSE)
                with progress_of(run, sys.stderr) as progress:
                    return await chain.resume(options.run_id, listen=progress.show)
        finally:
            await leases.let_go(key)
            await store.aclose()

    with resumable(options, settings, options.out) as started, termination_interrupts():
        started.append(options.run_id)
        result = anyio.run(work)
    if options.out and result.text:
        write_text(options.out, result.text)
    return finish(result, as_json=options.json, show_text=not options.out)
