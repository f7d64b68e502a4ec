"""`sifaka history`: a run, or the recent ones."""

import argparse
import json
from contextlib import aclosing, suppress
from datetime import UTC, datetime

import anyio

from sifaka.chain import follow_run
from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.events import ChainEvent
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from sifaka.tasks import look_up
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_json, print_line, printing
from sifaka_mcp.schemas.history import HistoryOut
from sifaka_mcp.settings import Settings
from sifaka_mcp.view.lines import flat, visible
from sifaka_mcp.view.text import history as as_text

_CATCHING_UP_SECONDS = 10.0


ARGUMENTS = (
    opt.argument("run_id", metavar="RUN", nargs="?", default=""),
    opt.limit(20),
    opt.argument("--cursor", default="", help="continue an earlier page"),
    opt.argument(
        "--follow", action="store_true", help="print what happens in RUN until it is finished"
    ),
    opt.argument("--text", action="store_true", help="print each version's text"),
    opt.JSON,
    opt.fixed(query=""),
)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print the page that was asked for."""
    if options.follow:
        return _follow(options, settings)
    store = settings.open_store()

    async def work() -> tuple[HistoryOut, Run | None]:
        try:
            await opt.check_store(store)
            if options.query:
                await _catch_up(store)
            found = await look_up(
                store,
                embeds=settings.embedding_model is not None,
                run_id=options.run_id,
                query=options.query,
                limit=options.limit,
                cursor=options.cursor,
            )
            return HistoryOut.of(found, include_text=options.text), found.run
        finally:
            await store.aclose()

    out, run = anyio.run(work)
    if options.json:
        print_json(out)
        return 0
    with printing() as stream:
        if stream.isatty():
            from sifaka_mcp.view.history_terminal import show_history

            show_history(out, run, stream, now=datetime.now(UTC))
        else:
            print(visible(as_text(out)), file=stream)
    return 0


async def _catch_up(store: ThoughtStore) -> None:
    """Make the vectors that are missing, as far as some seconds go: no server may ever run."""
    with suppress(StorageError), anyio.move_on_after(_CATCHING_UP_SECONDS):
        while await store.catch_up():
            pass  # the search says how much is left, and why


def _follow(options: argparse.Namespace, settings: Settings) -> int:
    """Print a line for each thing that happens in a run, its past first, until it is finished."""
    if not options.run_id:
        raise ConfigurationError("--follow needs a run", "name one: `sifaka history` lists them")
    store = settings.open_store()

    async def work() -> None:
        try:
            await opt.check_store(store)
            async with aclosing(follow_run(store, options.run_id)) as events:
                async for event in events:
                    if not print_line(_line(event, as_json=options.json)):
                        break
        finally:
            await store.aclose()

    anyio.run(work)
    return 0


def _line(event: ChainEvent, *, as_json: bool) -> str:
    run, entry = event.run, event.entry
    assert run is not None, "what was stored has a run"
    assert entry is not None, "and an entry"
    told = {
        "at": entry.at.isoformat(),
        "run_id": run.run_id,
        "version": event.iteration,
        "phase": event.phase,
        "entry": entry.kind,
        "message": event.message,
        "status": run.status,
    }
    if as_json:
        return json.dumps(told)
    return f"{told['at']}  version {event.iteration}  {event.phase}: {flat(event.message)}"
