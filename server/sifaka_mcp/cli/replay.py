"""`sifaka replay`: go through a finished run again, from its record alone."""

from sifaka.chain import Chain
from sifaka.plugins import Plugins
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import lines
from sifaka_mcp.cli.session import Ending, Session

ARGUMENTS = (opt.RUN,)


async def run(session: Session) -> Ending:
    """Print whether the replay is exact, and where not; 0 when it is. No model is asked."""
    run_id, plugins = session.options.run_id, Plugins(session.settings.plugins)
    store = await session.store()
    config = (await store.load(run_id)).config
    found = await Chain.of_config(config, store=store, plugins=plugins).replay(run_id)
    told = f"exact: {len(found.run.thoughts)} versions, {found.run.usage.model_calls} calls"
    shown = lines([*found.differences, *[told] * found.exact])
    return session.answer(None, shown, 0 if found.exact else 1)
