"""`sifaka verify`: what sources say about the claims of a text."""

import sys
from pathlib import Path

from sifaka.errors import ConfigurationError
from sifaka.tasks.verification import MOST_CLAIMS, MOST_DOCUMENTS, check_claims, check_options
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.adapter_names import ADAPTERS
from sifaka_mcp.cli.output import lines
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.schemas.evidence import SourceIn, VerifyOut, documents_of
from sifaka_mcp.view.evidence_text import verification
from sifaka_mcp.view.progress import TerminalProgress

ARGUMENTS = (
    opt.TEXT,
    *ADAPTERS,
    opt.group(
        "evidence",
        opt.argument(
            "--source",
            action="append",
            default=[],
            metavar="FILE",
            help="a document to hold the claims against; nothing else is searched unless named",
        ),
        *opt.FILTERS,
        opt.argument(
            "--max-documents",
            type=opt.whole_number(1, MOST_DOCUMENTS),
            default=4,
            metavar="N",
            help="for each claim",
        ),
        opt.argument(
            "--max-claims",
            type=opt.whole_number(1, MOST_CLAIMS),
            default=20,
            metavar="N",
            help="of the text, those that need evidence most",
        ),
    ),
    opt.EVIDENCE_MODEL,
    opt.argument(
        "--allow-unverified",
        action="store_true",
        help="exit 0 also when no claim could be verified",
    ),
    opt.JSON,
)


async def run(session: Session) -> Ending:
    """Print what is known about each claim; 0 when none is contradicted and some were judged."""
    options = session.options
    if options.file == "-" and "-" in options.source:
        raise ConfigurationError("standard input is read once", "name a file for the text")
    text = opt.read_text(options.file)
    documents = documents_of([_source(name) for name in options.source])
    chosen = check_options(
        adapters=options.chosen_adapters,
        documents=documents,
        since=options.since,
        until=options.until,
        sites=options.site,
        max_documents=options.max_documents,
        max_claims=options.max_claims,
    )
    chain = await session.chain()
    with TerminalProgress(sys.stderr) as progress:
        report = await check_claims(
            chain, text, documents=documents, options=chosen, hear=progress.tell
        )
    out = VerifyOut.of(report)
    open_ = bool(out.verdicts) and all(each.verdict == "unverified" for each in out.verdicts)
    code = 1 if out.blocking or (open_ and not options.allow_unverified) else 0
    return session.answer(out, lines([verification(out)]), code)


def _source(name: str) -> SourceIn:
    text = opt.read_text(name)
    if not text.strip():
        raise ConfigurationError(f"{name} is empty", "name a file with the words of a source")
    return SourceIn(text=text, title="standard input" if name == "-" else Path(name).name)
