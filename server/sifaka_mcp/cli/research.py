"""`sifaka research`: a report on a question, from the configured sources."""

from sifaka.record.research_question import Inquiry
from sifaka.tasks.inquiry import MOST_ITERATIONS, MOST_SECTIONS, ready_to_research
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.adapter_names import ADAPTERS
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.schemas.research import turns_in

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


async def run(session: Session) -> Ending:
    """Research the question, print what became of it, and write the report where asked."""
    options = session.options
    session.aim_at(options.out)
    chain = await session.chain(
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
    return session.finish(await session.begin(chain, options.question))
