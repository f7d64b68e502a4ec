"""`sifaka critique`: what is wrong with a text."""

from sifaka.errors import ConfigurationError
from sifaka.tasks.criticism import review
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import lines
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.schemas.verdicts import CritiqueTextOut
from sifaka_mcp.view.text import critique as as_text

ARGUMENTS = (opt.TEXT, opt.FORMAT, opt.ORIGINAL, *opt.JUDGES, opt.SPEC, opt.JSON)


async def run(session: Session) -> Ending:
    """Print what the critics say; 0 when they found nothing."""
    options = session.options
    text = opt.read_text(options.file)
    chain = await session.chain(format=opt.format_of(options, text))
    if chain.resources.validators:
        raise ConfigurationError(
            f"{options.spec} has validators, which `critique` does not run", "use `sifaka validate`"
        )
    original = opt.read_text(options.original) if options.original else ""
    out = CritiqueTextOut.of(await review(chain, text, options.prompt, original=original))
    is_open = any(each.status == "open" for each in out.differences)
    code = 1 if out.issues or is_open or out.verdict == "revise" else 0
    return session.answer(out, lines([as_text(out)]), code)
