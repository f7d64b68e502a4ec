"""`sifaka validate`: check a text against rules."""

import argparse
from functools import partial

import anyio

from sifaka.errors import ConfigurationError
from sifaka.plugins import Plugins
from sifaka.tasks import validate as check
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_result
from sifaka_mcp.schemas.verdicts import ValidateOut
from sifaka_mcp.settings import Settings
from sifaka_mcp.view.terminal import show_verdicts

ARGUMENTS = (
    opt.TEXT,
    *opt.RULES,
    opt.ORIGINAL,
    opt.JSON,
)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print every validator's verdict; 0 when all required ones pass."""
    text = opt.read_text(options.file)
    rules, plugins = opt.rules_of(options), Plugins(settings.plugins)
    if not rules:
        raise ConfigurationError("there are no rules", "give some, such as --max-words 120")
    original = opt.read_text(options.original) if options.original else ""
    report = anyio.run(partial(check, text, rules, original=original, plugins=plugins))
    out = ValidateOut.of(report)
    print_result(out, partial(show_verdicts, out.results), as_json=options.json)
    return 0 if report.passed else 1
