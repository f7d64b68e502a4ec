"""`sifaka resume`: go on with a run where it was interrupted."""

import argparse
import sys

import anyio

from server.cli import options as opt
from server.cli.report import finish
from server.cli.signals import termination_interrupts
from server.settings import Settings
from server.view.research_terminal import progress_of
from sifaka.chain import Chain, RunResult
from sifaka.plugins import Plugins


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("run_id", metavar="RUN")
    opt.add_json(parser)
    parser.set_defaults(run=resume)


def resume(options: argparse.Namespace, settings: Settings) -> int:
    """Work on the run until it is done or waits for its caller."""
    store = settings.open_store()
    adapters = settings.open_adapters(store)

    async def work() -> RunResult:
        try:
            await opt.check_store(store)
            run = await store.load(options.run_id)
            plugins = Plugins(settings.plugins)
            chain = Chain.of_config(run.config, store=store, plugins=plugins, adapters=adapters)
            with progress_of(run, sys.stderr) as progress:
                return await chain.resume(options.run_id, listen=progress.show)
        finally:
            await adapters.aclose()
            await store.aclose()

    with termination_interrupts():
        result = anyio.run(work)
    return finish(result, as_json=options.json)
