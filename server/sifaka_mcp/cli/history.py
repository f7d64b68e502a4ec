"""`sifaka history`: a run, or the recent ones."""

import json
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from functools import partial
from typing import TextIO

import anyio

from sifaka.chain import follow_run
from sifaka.errors import ConfigurationError, StorageError
from sifaka.extras import installed
from sifaka.record.run import ChainEvent
from sifaka.storage.protocol import ThoughtStore
from sifaka.tasks import look_up
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_lines
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.safe_text import flat, visible
from sifaka_mcp.schemas.history import HistoryOut
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


async def run(session: Session) -> Ending:
    """Print the page that was asked for."""
    options = session.options
    if options.follow:
        return await _follow(session)
    store = await session.store()
    if options.query:
        await _catch_up(store)
    found = await look_up(
        store,
        embeds=session.settings.embedding_model is not None,
        run_id=options.run_id,
        query=options.query,
        limit=options.limit,
        cursor=options.cursor,
    )
    out = HistoryOut.of(found, include_text=options.text)
    return session.answer(out, partial(_show, out), 0)


def _show(out: HistoryOut, stream: TextIO) -> None:
    if out.run is None and stream.isatty() and installed("rich"):
        from sifaka_mcp.view.history_terminal import show_rows

        show_rows(out, stream, now=datetime.now(UTC))
    else:
        print(visible(as_text(out)), file=stream)


async def _catch_up(store: ThoughtStore) -> None:
    """Make the vectors that are missing, as far as some seconds go: no server may ever run."""
    with suppress(StorageError), anyio.move_on_after(_CATCHING_UP_SECONDS):
        while await store.catch_up():
            pass  # the search says how much is left, and why


async def _follow(session: Session) -> Ending:
    """Print a line for each thing that happens in a run, its past first, until it is finished."""
    run_id = session.options.run_id
    if not run_id:
        raise ConfigurationError("--follow needs a run", "name one: `sifaka history` lists them")
    store = await session.store()
    async with aclosing(follow_run(store, run_id)) as events:
        async for event in events:
            if not print_lines([_line(event, as_json=session.options.json)]):
                break
    return lambda: 0


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
