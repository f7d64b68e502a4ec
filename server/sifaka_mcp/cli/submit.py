"""`sifaka submit`: a version that a person wrote, into the run that waits for it."""

import sys

from sifaka.errors import ConfigurationError
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.safe_text import flat
from sifaka_mcp.view.progress import TerminalProgress

ARGUMENTS = (
    opt.RUN,
    opt.argument("file", metavar="FILE", nargs="?", help="the whole new version, - for stdin"),
    opt.argument(
        "--parent", metavar="VERSION", help="the version it revises; by default the best one"
    ),
    opt.argument(
        "--accept", action="store_true", help="keep the text as it is, and decline what is left"
    ),
    opt.argument("--reason", help="why what is left stays as it is"),
    opt.JSON,
)


async def run(session: Session) -> Ending:
    """Take the version in, and work on the run until it is done or waits again."""
    options = session.options
    if options.file is None and not options.accept:
        raise ConfigurationError("there is no version to submit", "name a FILE, or give --accept")
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
    told = "accepted" if result.accepted else "not accepted"
    print(f"{told}: {flat(result.reason)}" if result.reason else told, file=sys.stderr)
    return session.finish(result)
