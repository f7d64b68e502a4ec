"""`sifaka validate` and `sifaka critique`: check a text by rules, or find its weaknesses."""

from functools import partial
from pathlib import Path

from sifaka.errors import ConfigurationError
from sifaka.plugins import Plugins
from sifaka.tasks import validate as check
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.process import lines
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.schemas.verdicts import CritiqueTextOut, ValidateOut
from sifaka_mcp.settings.project_rules import rules_for
from sifaka_mcp.view.terminal import show_verdicts
from sifaka_mcp.view.text import critique as as_text


@opt.command(opt.TEXT, *opt.RULES, opt.ORIGINAL, opt.JSON)
async def validate(session: Session) -> Ending:
    """Print every validator's verdict; 0 when all required ones pass."""
    options = session.options
    text = opt.read_text(options.file)
    rules, _ = opt.specs_of(options)
    if not rules:
        raise ConfigurationError("there are no rules", "give some, such as --max-words 120")
    original = opt.read_text(options.original) if options.original else ""
    plugins = Plugins(session.settings.plugins)
    out = ValidateOut.of(await check(text, rules, original=original, plugins=plugins))
    return session.answer(out, partial(show_verdicts, out.results), 0 if out.passed else 1)


@opt.command(opt.TEXT, opt.FORMAT, opt.ORIGINAL, *opt.JUDGES, opt.SPEC, opt.JSON)
async def critique(session: Session) -> Ending:
    """Print what the critics say; 0 when they found nothing."""
    from sifaka.tasks.criticism import review

    options = session.options
    text = opt.read_text(options.file)
    chain = await session.chain(
        format=opt.format_of(options, text), lint_rules=rules_for(Path(options.file))
    )
    if chain.resources.validators:
        raise ConfigurationError(
            f"{options.spec} has validators, which `critique` does not run", "use `sifaka validate`"
        )
    original = opt.read_text(options.original) if options.original else ""
    out = CritiqueTextOut.of(await review(chain, text, options.prompt, original=original))
    is_open = any(each.status == "open" for each in out.differences)
    code = 1 if out.issues or is_open or out.verdict == "revise" else 0
    return session.answer(out, lines([as_text(out)]), code)
