"""`sifaka replay`: go through a finished run again, from its record alone."""

import argparse

import anyio

from sifaka.chain import Chain, Replay
from sifaka.plugins import Plugins
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_lines
from sifaka_mcp.settings import Settings

ARGUMENTS = (opt.RUN,)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print whether the replay is exact, and where not; 0 when it is. No model is asked."""

    async def work() -> Replay:
        async with opt.opened(settings) as store:
            run = await store.load(options.run_id)
            chain = Chain.of_config(run.config, store=store, plugins=Plugins(settings.plugins))
            return await chain.replay(options.run_id)

    found = anyio.run(work)
    calls = found.run.usage.model_calls
    exact = [f"exact: {len(found.run.thoughts)} versions, {calls} calls"] if found.exact else []
    print_lines([*found.differences, *exact])
    return 0 if found.exact else 1
