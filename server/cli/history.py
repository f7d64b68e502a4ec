"""`sifaka history`: a run, or the recent ones."""

import argparse

import anyio

from server.cli import options as opt
from server.cli.output import print_json, printing
from server.schemas.history import HistoryOut
from server.settings import Settings
from server.tools.history import look_up
from server.view.text import history as as_text
from sifaka.storage import open_store


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("run_id", metavar="RUN", nargs="?", default="")
    opt.add_limit(parser, 20)
    parser.add_argument("--cursor", default="", help="continue an earlier page")
    parser.add_argument("--text", action="store_true", help="print each version's text")
    opt.add_json(parser)
    parser.set_defaults(run=history, query="")


def history(options: argparse.Namespace, settings: Settings) -> int:
    """Print the page that was asked for."""
    store = open_store(settings.store, home=settings.home, tenant=settings.tenant)

    async def work() -> HistoryOut:
        try:
            await opt.check_store(store)
            return await look_up(
                store,
                run_id=options.run_id,
                query=options.query,
                limit=options.limit,
                cursor=options.cursor,
                include_text=options.text,
            )
        finally:
            await store.aclose()

    out = anyio.run(work)
    if options.json:
        print_json(out)
    else:
        with printing() as stream:
            print(as_text(out), file=stream)
    return 0
