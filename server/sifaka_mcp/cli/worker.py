"""`sifaka worker`: work on the runs that servers have queued in Redis."""

import sys

import anyio

from sifaka.errors import ConfigurationError
from sifaka.extras import install
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.garbage_collection import collect_less

_MOST = 10_000


ARGUMENTS = (
    opt.argument(
        "--concurrency",
        type=opt.whole_number(1, _MOST),
        help="runs at the same time; by default as SIFAKA_MAX_RUNS says",
    ),
)


async def run(session: Session) -> Ending:
    """Work on runs until the process is told to stop; what is not done then goes to another worker.

    Raises:
        ConfigurationError: The store is not in Redis, or docket is not installed.
    """
    from sifaka_mcp.lifespan import Lifespan

    settings = session.settings
    at_once = session.options.concurrency or settings.max_runs
    life = Lifespan(settings, warm_up=lambda: None, concurrency=at_once)
    if life.queue_place is None:
        raise ConfigurationError(
            "a worker takes runs from Redis, and SIFAKA_STORE names another store",
            "set SIFAKA_STORE, such as redis://host:6379/0",
        )
    settings.open_embedder()  # or searches would miss what this worker has written
    collect_less()
    async with life(None) as state:
        state.warm_up()
        if state.runs.queue is None or not await state.runs.queue.opened():
            raise ConfigurationError("docket is missing", install("redis"))
        print(f"sifaka: working on {at_once} runs at a time", file=sys.stderr, flush=True)
        await anyio.sleep_forever()
    raise AssertionError("only a signal ends it")
