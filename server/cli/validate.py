"""`sifaka validate`: check a text against rules."""

import argparse

import anyio

from server.cli import options as opt
from server.cli.output import print_json, printing
from server.schemas.reviews import ValidateOut
from server.schemas.verdicts import ValidationOut
from server.settings import Settings
from server.view.terminal import show_verdicts
from sifaka.errors import ConfigurationError
from sifaka.texts import check_text
from sifaka.thought import Thought
from sifaka.validation import run_validators


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
