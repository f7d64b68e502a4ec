"""`sifaka research`: a report on a question, from the configured sources."""

import argparse
import sys

import anyio

from sifaka.chain import RunResult
from sifaka.record.inquiry import Inquiry
from sifaka.tasks.inquiry import MOST_ITERATIONS, MOST_SECTIONS, ready_to_research
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.adapter_names import ADAPTERS
from sifaka_mcp.cli.document import check_target
from sifaka_mcp.cli.output import finish
from sifaka_mcp.cli.signals import resumable, termination_interrupts
from sifaka_mcp.schemas.research import turns_in
from sifaka_mcp.settings import Settings
from sifaka_mcp.view.research_terminal import ResearchProgress

ARGUMENTS = (
    opt.argument("question", metavar="QUESTION", help="what is to be found out"),
    opt.argument(
        "--mode",
        choices=["iterative", "deep", "auto"],
        default="auto",
        help="one loop of searches, or a plan and a loop for each section",
    ),
    opt.argument("--history", metavar="FILE", help="the conversation before the question, as JSON"),
    *ADAPTERS,
    opt.argument("--sections", type=opt.whole_number(1, MOST_SECTIONS), default=6),
    opt.argument(
        "--iterations",
        type=opt.whole_number(1, MOST_ITERATIONS),
        default=3,
        help="rounds of searches for each section",
    ),
    opt.BUDGET,
    opt.argument("--model", help="auto, caller or provider:name"),
    opt.TAGS,
    opt.argument("--out", metavar="FILE", help="write the report there"),
    opt.JSON,
)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Research the question, print what became of it, and write the report where asked."""
    if options.out:
        check_target(options.out)
    chain = opt.chain_of(
        options,
        settings,
        budget=opt.budget_of(options),
        tags=options.tag,
        inquiry=Inquiry(
            mode=options.mode,
            history=turns_in(opt.read_text(options.history)) if options.history else (),
            adapters=options.chosen_adapters,
            # A resume has to find them again.
            sources=options.adapter_specs,
            max_sections=options.sections,
            max_iterations=options.iterations,
        ),
    )
    chain = ready_to_research(chain, options.question, is_chosen=options.model is not None)

    async def work() -> RunResult:
        with ResearchProgress(sys.stderr) as progress:
            async with opt.closing(chain):
                await opt.check_store(chain.store)
                handle = await chain.start(options.question)
                started.append(handle.run_id)
                progress.run = handle.run
                return await handle.work(progress.show)

    with resumable(options, settings, options.out) as started, termination_interrupts():
        result = anyio.run(work)
    return finish(result, as_json=options.json, out=options.out)
