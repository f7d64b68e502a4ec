"""`sifaka validate`: check a text against rules."""

from functools import partial

from sifaka.errors import ConfigurationError
from sifaka.plugins import Plugins
from sifaka.tasks import validate as check
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.schemas.verdicts import ValidateOut
from sifaka_mcp.view.terminal import show_verdicts

ARGUMENTS = (
    opt.TEXT,
    *opt.RULES,
    opt.ORIGINAL,
    opt.JSON,
)


async def run(session: Session) -> Ending:
    """Print every validator's verdict; 0 when all required ones pass."""
    options = session.options
    text = opt.read_text(options.file)
    rules, _ = opt.specs_of(options)
    if not rules:
        raise ConfigurationError("there are no rules", "give some, such as --max-words 120")
    original = opt.read_text(options.original) if options.original else ""
    plugins = Plugins(session.settings.plugins)
    report = await check(text, rules, original=original, plugins=plugins)
    out = ValidateOut.of(report)
    return session.answer(out, partial(show_verdicts, out.results), 0 if report.passed else 1)
