"""`sifaka history`, `search`, `view`, `submit`, `resume`, `replay`, `forget`: runs on record."""

import argparse
import json
import re
import sys
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TextIO

import anyio

from sifaka._internal.durations import show_duration
from sifaka.chain import follow_run
from sifaka.errors import ConfigurationError, StorageError
from sifaka.plugins import Plugins
from sifaka.record.run import ChainEvent, Run
from sifaka.storage.retention import (
    Outcome,
    Policy,
    RetentionPlan,
    carry_out,
    plan,
)
from sifaka.tasks import look_up
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.document import write_text
from sifaka_mcp.cli.process import lines, print_lines
from sifaka_mcp.cli.session import Ending, Session, checked_store
from sifaka_mcp.runs.service import FileLeases, RunKey
from sifaka_mcp.safe_text import flat, visible
from sifaka_mcp.schemas.history import HistoryOut
from sifaka_mcp.view.progress import TerminalProgress
from sifaka_mcp.view.text import history as as_text

_CATCHING_UP_SECONDS = 10.0
_PAUSE = 0.2
"""Seconds between two looks at a run that another process works on."""


@opt.command(
    opt.argument("run_id", metavar="RUN", nargs="?", default=""),
    opt.limit(default=20),
    opt.argument("--cursor", default="", help="continue an earlier page"),
    opt.argument(
        "--follow", action="store_true", help="print what happens in RUN until it is finished"
    ),
    opt.argument("--text", action="store_true", help="print each version's text"),
    opt.JSON,
    opt.fixed(query=""),
)
async def history(session: Session) -> Ending:
    """Print the page that was asked for."""
    options = session.options
    if options.follow:
        return await _follow(session)
    store = await session.store()
    if options.query:
        # Make the vectors that are missing, as far as some seconds go: no server may ever run.
        with suppress(StorageError), anyio.move_on_after(_CATCHING_UP_SECONDS):
            while await store.catch_up():
                pass  # the search says how much is left, and why
    out = HistoryOut.of(
        await look_up(
            store,
            embeds=session.settings.embedding_model is not None,
            run_id=options.run_id,
            query=options.query,
            limit=options.limit,
            cursor=options.cursor,
        ),
        include_text=options.text,
    )
    return session.answer(out, partial(_show_history, out), 0)


def _show_history(out: HistoryOut, stream: TextIO) -> None:
    """Print it; in a list at a terminal each line ends where the terminal does."""
    from sifaka_mcp.view.console import Console, Text

    fits = out.run is None and stream.isatty()
    Console(file=stream, highlight=False).print(
        Text(visible(as_text(out))),
        soft_wrap=not fits,
        no_wrap=True,
        overflow="ellipsis" if fits else None,
    )


async def _follow(session: Session) -> Ending:
    """Print a line for each thing that happens in a run, its past first, until it is finished."""
    run_id = session.options.run_id
    if not run_id:
        raise ConfigurationError("--follow needs a run", "name one: `sifaka history` lists them")
    store = await session.store()
    async with aclosing(follow_run(store, run_id)) as events:
        async for event in events:
            if not print_lines([_format_event(event, as_json=session.options.json)]):
                break
    return lambda: 0


def _format_event(event: ChainEvent, *, as_json: bool) -> str:
    run, entry = event.run, event.entry
    assert run is not None, "what was stored has a run"
    assert entry is not None, "and an entry"
    data = {
        "at": entry.at.isoformat(),
        "run_id": run.run_id,
        "version": event.iteration,
        "phase": event.phase,
        "entry": entry.kind,
        "message": event.message,
        "status": run.status,
    }
    if as_json:
        return json.dumps(data)
    return f"{data['at']}  version {event.iteration}  {event.phase}: {flat(event.message)}"


@opt.command(
    opt.argument(
        "query",
        metavar="QUERY",
        help="words, and filters: tag:x passed:true since:7d until:DATE",
    ),
    opt.limit(default=10),
    opt.JSON,
    opt.fixed(run_id="", cursor="", text=False, follow=False),
)
async def search(session: Session) -> Ending:
    """Print the texts that match."""
    if not session.options.query.strip():
        raise ConfigurationError("there is nothing to search for", "give some words or a filter")
    return await history.work(session)


@opt.command(
    opt.argument("run_id", metavar="RUN", nargs="?", default="", help="the latest if none"),
    opt.argument("--html", metavar="FILE", help="write the page there and open nothing"),
)
async def view(session: Session) -> Ending:
    """Write the page of a run, and open it unless a file was named."""
    session.aim_at(session.options.html)
    store = await session.store()
    run_id = session.options.run_id
    if not run_id:
        latest = (await store.recent(limit=1)).runs
        if not latest:
            raise ConfigurationError("there is no run yet", "make one: sifaka improve FILE")
        run_id = latest[0].run_id
    return partial(_open_view, await store.load(run_id), session.target)


def _open_view(run: Run, file: str | None) -> int:
    from sifaka_mcp.ui.pages import page_of

    # The browser needs its file after this process; only this user can read it.
    target = file or str(Path(tempfile.mkdtemp(prefix="sifaka-")) / f"{run.run_id}.html")
    write_text(target, page_of(run).html)
    print_lines([target])
    if not file:
        webbrowser.open(Path(target).as_uri())
    return 0


@opt.command(
    opt.RUN,
    opt.argument("file", metavar="FILE", nargs="?", help="the whole new version, - for stdin"),
    opt.argument(
        "--parent", metavar="VERSION", help="the version it revises; by default the best one"
    ),
    opt.argument(
        "--accept", action="store_true", help="keep the text as it is, and decline what is left"
    ),
    opt.argument("--reason", help="why it is right; alone, why the version before was"),
    opt.JSON,
)
async def submit(session: Session) -> Ending:
    """Take the version in, and work on the run until it is done or waits again."""
    options = session.options
    if options.file is None and not options.accept and not options.reason:
        raise ConfigurationError(
            "there is no version to submit",
            "name a FILE; --accept keeps the text, --reason answers for the version before",
        )
    text = "" if options.file is None else opt.read_text(options.file)
    run, chain = await session.reopen()
    with TerminalProgress(sys.stderr, run) as progress:
        result = await chain.submit(
            run.run_id,
            options.parent or run.champion_id or "",
            text,
            accept=options.accept,
            reason=options.reason,
            listen=progress.show,
        )
    outcome = "accepted" if result.accepted else "not accepted"
    print(f"{outcome}: {flat(result.reason)}" if result.reason else outcome, file=sys.stderr)
    return session.finish(result)


@opt.command(opt.RUN, opt.OUT, opt.JSON)
async def resume(session: Session) -> Ending:
    """Work on the run until it is done or waits for its caller."""
    session.aim_at(session.options.out)
    leases = FileLeases(session.settings.home / "running")
    run, chain = await session.reopen()
    key = RunKey(session.settings.tenant, run.run_id)
    try:
        # A run that another process of this machine works on is waited for, not worked on twice.
        while not await leases.claim(key):  # noqa: ASYNC110 - its end is no event here
            await anyio.sleep(_PAUSE)
        with TerminalProgress(sys.stderr, run) as progress:
            return session.finish(await chain.resume(run.run_id, listen=progress.show))
    finally:
        await leases.let_go(key)


@opt.command(opt.RUN)
async def replay(session: Session) -> Ending:
    """Print whether the replay is exact, and where not; 0 when it is. No model is asked."""
    from sifaka.chain import Chain

    run_id, plugins = session.options.run_id, Plugins(session.settings.plugins)
    store = await session.store()
    run = await store.load(run_id)
    result = await Chain.of_config(run.config, store=store, plugins=plugins).replay(run_id)
    summary = f"exact: {len(result.run.thoughts)} versions, {result.run.usage.model_calls} calls"
    return session.answer(None, lines(result.differences or [summary]), int(not result.exact))


@opt.command(
    opt.group(
        "what stays (at least one; runs that pass all of them stay)",
        opt.argument(
            "--older-than",
            type=opt.parse_age,
            metavar="AGE",
            help="runs up to this age, such as 90d, 12h, 30m",
        ),
        opt.argument(
            "--keep", type=opt.whole_number(0, 10**9 - 1), metavar="N", help="the N newest runs"
        ),
    ),
    opt.argument("--to", metavar="STORE", help="move the runs to this store instead"),
    opt.argument("--yes", action="store_true", help="do it; otherwise nothing is changed"),
    opt.JSON,
)
async def forget(session: Session) -> Ending:
    """Show what would be forgotten, or forget it; 1 when a run could not be."""
    options, settings, now = session.options, session.settings, datetime.now(UTC)
    policy = Policy(max_age=options.older_than, max_runs=options.keep)
    if policy == Policy():
        raise ConfigurationError("nothing says which runs to forget", "give --older-than or --keep")
    if options.to == settings.store:
        raise ConfigurationError("--to is the store that the runs are in", "name another one")
    store = await session.store()
    archive = None
    if options.to:
        archive = await session.open(settings.model_copy(update={"store": options.to}))
    planned = await plan(store, policy, now)
    if archive and options.yes:
        # One that only keeps runs for a server that is away is refused.
        for part in await (await checked_store(archive)).health():
            if not part.works:
                raise StorageError(f"--to {part.part} does not work: {part.found}", "mend it first")
    # A plan alone moves nothing, so nothing has failed.
    outcome = Outcome(gone=planned.leaving, failed=())
    if options.yes:
        outcome = await carry_out(store, planned, archive)
    return session.answer(
        _retention_report(planned, outcome, options),
        lines(_retention_lines(planned, outcome, options, now)),
        1 if outcome.failed else 0,
    )


def _retention_report(
    planned: RetentionPlan, outcome: Outcome, options: argparse.Namespace
) -> Mapping[str, object]:
    errors = {failure.leaving.run.run_id: failure.error for failure in outcome.failed}
    return {
        "done": options.yes,
        "to": _mask_url(options.to) if options.to else None,
        "runs": [
            {
                **leaving.run.model_dump(mode="json"),
                "reason": leaving.reason,
                "error": errors.get(leaving.run.run_id),
            }
            for leaving in planned.leaving
        ],
        "kept_runs": planned.kept_runs + len(errors),
    }


def _retention_lines(
    planned: RetentionPlan, outcome: Outcome, options: argparse.Namespace, now: datetime
) -> Iterator[str]:
    for line in outcome.gone:
        age = show_duration(now - line.run.updated_at)
        yield f"{line.run.run_id}  {age:>4}  {line.reason:<17}  {line.run.excerpt}"
    for failure in outcome.failed:
        yield f"{failure.leaving.run.run_id}  stays: {failure.error}"
    verb = f"moved to {_mask_url(options.to)!r}" if options.to else "forgotten"
    yield (
        f"{verb if options.yes else f'would be {verb}'}: "
        f"{_count_runs(len(outcome.gone))}"
        f" — what stays: {_count_runs(planned.kept_runs + len(outcome.failed))}"
    )
    if outcome.gone and not options.yes:
        yield "nothing was changed: add --yes to do it"


def _mask_url(url: str) -> str:
    """A URL without what may be a password or a key: in it, behind it, or among a command's."""
    stripped = re.sub(r"\?[^,\s]*", "", re.sub(r"//[^,\s]*@", "//***@", url))
    return re.sub(r"(\+mcp:\S+)\s[^,]*", r"\1 …", stripped)


def _count_runs(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"
