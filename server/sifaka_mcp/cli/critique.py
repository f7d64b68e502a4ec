"""`sifaka critique`: what is wrong with a text."""

import argparse

import anyio

from sifaka.chain.review import Review
from sifaka.errors import ConfigurationError
from sifaka.tasks.criticism import review
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_result
from sifaka_mcp.schemas.verdicts import CritiqueTextOut
from sifaka_mcp.settings import Settings
from sifaka_mcp.view.text import critique as as_text

ARGUMENTS = (opt.TEXT, opt.FORMAT, opt.ORIGINAL, *opt.JUDGES, opt.SPEC, opt.JSON)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print what the critics say; 0 when they found nothing."""
    text = opt.read_text(options.file)
    chain = opt.chain_of(options, settings, format=opt.format_of(options, text))
    if chain.resources.validators:
        raise ConfigurationError(
            f"{options.spec} has validators, which `critique` does not run", "use `sifaka validate`"
        )

    original = opt.read_text(options.original) if options.original else ""

    async def work() -> Review:
        async with opt.closing(chain):
            return await review(chain, text, options.prompt, original=original)

    out = CritiqueTextOut.of(anyio.run(work))
    print_result(out, lambda stream: print(as_text(out), file=stream), as_json=options.json)
    is_open = any(each.status == "open" for each in out.differences)
    return 1 if out.issues or is_open or out.verdict == "revise" else 0
