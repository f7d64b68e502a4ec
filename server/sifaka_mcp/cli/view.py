"""`sifaka view`: a run as a page, in the browser or as one file."""

import tempfile
import webbrowser
from functools import partial
from pathlib import Path

from sifaka.errors import ConfigurationError
from sifaka.record.run import Run
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.document import write_text
from sifaka_mcp.cli.output import print_lines
from sifaka_mcp.cli.session import Ending, Session

ARGUMENTS = (
    opt.argument("run_id", metavar="RUN", nargs="?", default="", help="the latest if none"),
    opt.argument("--html", metavar="FILE", help="write the page there and open nothing"),
)


async def run(session: Session) -> Ending:
    """Write the page of a run, and open it unless a file was named."""
    session.aim_at(session.options.html)
    store = await session.store()
    run_id = session.options.run_id
    if not run_id:
        latest = (await store.recent(limit=1)).runs
        if not latest:
            raise ConfigurationError("there is no run yet", "make one: sifaka improve FILE")
        run_id = latest[0].run_id
    return partial(_show, await store.load(run_id), session.target)


def _show(run: Run, named: str | None) -> int:
    from sifaka_mcp.ui.pages import page_of

    # The browser needs its file after this process; only this user can read it.
    target = named or str(Path(tempfile.mkdtemp(prefix="sifaka-")) / f"{run.run_id}.html")
    write_text(target, page_of(run).html)
    print_lines([target])
    if not named:
        webbrowser.open(Path(target).as_uri())
    return 0
