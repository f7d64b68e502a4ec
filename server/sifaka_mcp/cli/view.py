"""`sifaka view`: a run as a page, in the browser or as one file."""

import argparse
import tempfile
import webbrowser
from pathlib import Path

import anyio

from sifaka.errors import ConfigurationError
from sifaka.record.run import Run
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.document import check_target, write_text
from sifaka_mcp.cli.output import print_lines
from sifaka_mcp.settings import Settings

ARGUMENTS = (
    opt.argument("run_id", metavar="RUN", nargs="?", default="", help="the latest if none"),
    opt.argument("--html", metavar="FILE", help="write the page there and open nothing"),
)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Write the page of a run, and open it unless a file was named."""
    if options.html:
        check_target(options.html)

    async def work() -> Run:
        async with opt.opened(settings) as store:
            run_id = options.run_id
            if not run_id:
                latest = (await store.recent(limit=1)).runs
                if not latest:
                    raise ConfigurationError("there is no run yet", "make one: sifaka improve FILE")
                run_id = latest[0].run_id
            return await store.load(run_id)

    shown = anyio.run(work)
    from sifaka_mcp.ui.pages import page_of

    target = options.html or _own_file(shown.run_id)
    write_text(target, page_of(shown).html)
    print_lines([target])
    if not options.html:
        webbrowser.open(Path(target).as_uri())
    return 0


def _own_file(run_id: str) -> str:
    """A file that only this user can read; the browser needs it after this process."""
    return str(Path(tempfile.mkdtemp(prefix="sifaka-")) / f"{run_id}.html")
