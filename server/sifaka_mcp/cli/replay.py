"""`sifaka replay`: go through a finished run again, from its record alone."""

import argparse

import anyio

from sifaka.chain import Chain, Replay
from sifaka.plugins import Plugins
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import printing
from sifaka_mcp.settings import Settings

ARGUMENTS = (opt.RUN,)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print whether the replay is exact, and where not; 0 when it is. No model is asked."""
    store = settings.open_store()

    async def work() -> Replay:
        try:
            await opt.check_store(store)
            run = await store.load(options.run_id)
            chain = Chain.of_config(run.config, store=store, plugins=Plugins(settings.plugins))
            return await chain.replay(options.run_id)
        finally:
            await store.aclose()

    found = anyio.run(work)
    with printing() as stream:
        for line in found.differences:
            print(line, file=stream)
        if found.exact:
            count = len(found.run.thoughts)
            print(f"exact: {count} versions, {found.run.usage.model_calls} calls", file=stream)
    return 0 if found.exact else 1
