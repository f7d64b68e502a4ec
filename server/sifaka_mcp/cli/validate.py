"""`sifaka validate`: check a text against rules."""

import argparse

import anyio

from sifaka.errors import ConfigurationError
from sifaka.record.thought import Thought
from sifaka.text.input import check_text
from sifaka.validators.execution import run_validators
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_json, printing
from sifaka_mcp.schemas.reviews import ValidateOut
from sifaka_mcp.schemas.verdicts import ValidationOut
from sifaka_mcp.settings import Settings
from sifaka_mcp.view.terminal import show_verdicts


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    opt.add_text(parser)
    opt.add_rules(parser)
    opt.add_json(parser)
    parser.set_defaults(run=validate)


def validate(options: argparse.Namespace, settings: Settings) -> int:
    """Print every validator's verdict; 0 when all required ones pass."""
    text = check_text(opt.read_text(options.file))
    chain = opt.chain_of(options, settings)
    if not chain.validators:
        raise ConfigurationError("there are no rules", "give some, such as --max-words 120")
    results = anyio.run(run_validators, chain.validators, Thought(text=text), text)
    out = ValidateOut(
        passed=all(r.passed for r in results.values() if r.required),
        results=[ValidationOut.of(result) for result in results.values()],
    )
    if options.json:
        print_json(out)
    else:
        with printing() as stream:
            show_verdicts(list(results.values()), stream)
    return 0 if out.passed else 1
