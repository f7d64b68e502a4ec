"""`sifaka search-evidence`: documents that help with a question, and the worth of each."""

import argparse
import sys
from collections.abc import Sequence

from sifaka.chain import Chain
from sifaka.errors import SourceError
from sifaka.tasks.evidence import (
    EvidenceOptions,
    plan_search,
    search_each,
    search_evidence,
)
from sifaka.tasks.verification import check_options
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.adapter_names import ADAPTERS
from sifaka_mcp.cli.output import print_text
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.schemas.evidence import EvidenceSearchOut
from sifaka_mcp.view.evidence_text import found_evidence, step_of
from sifaka_mcp.view.progress import TerminalProgress

ARGUMENTS = (
    opt.argument("questions", metavar="QUESTION", nargs="+", help="each a search of its own"),
    *ADAPTERS,
    opt.argument("--plan", action="store_true", help="queries and criteria, no search"),
    opt.argument("--no-decompose", action="store_true", help="search for the question as it is"),
    opt.argument("--no-verify", action="store_true", help="rank the documents, ask no model"),
    opt.group(
        "evidence",
        *opt.FILTERS,
        opt.argument(
            "--max-results",
            type=opt.whole_number(1, 100),
            default=10,
            metavar="N",
            help="documents",
        ),
    ),
    opt.EVIDENCE_MODEL,
    opt.JSON,
)


async def run(session: Session) -> Ending:
    """Print what was found; 0 when each question has evidence that is not rejected."""
    options = session.options
    checked = check_options(
        adapters=options.chosen_adapters,
        since=options.since,
        until=options.until,
        sites=options.site,
    )
    chosen = EvidenceOptions.of(
        checked,
        max_results=options.max_results,
        decompose=not options.no_decompose,
        verify=not options.no_verify,
    )
    outs = await _search(await session.chain(), options, chosen)
    told = [each.model_dump(mode="json") for each in outs]
    useful = [any(e.classification != "reject" for e in each.evidence) for each in outs]
    return session.answer(
        told[0] if len(told) == 1 else told,
        lambda _: print_text("\n\n".join(map(found_evidence, outs)) + "\n"),
        0 if options.plan or all(useful) else 1,
    )


async def _search(
    chain: Chain, options: argparse.Namespace, chosen: EvidenceOptions
) -> Sequence[EvidenceSearchOut]:
    questions: list[str] = options.questions
    with TerminalProgress(sys.stderr) as progress:
        if options.plan:
            plans = [await plan_search(chain, question) for question in questions]
            return [EvidenceSearchOut.of_plan(plan) for plan in plans]
        if len(questions) == 1:
            found = await search_evidence(
                chain,
                questions[0],
                options=chosen,
                hear=lambda step: progress.tell(step_of(step)),
            )
            return [EvidenceSearchOut.of(found)]
        entries = await search_each(chain, questions, options=chosen)
    if failed := [f"{each.question!r}: {each.error}" for each in entries if each.error]:
        raise SourceError("; ".join(failed), "ask the questions one by one", code="rejected")
    return [EvidenceSearchOut.of(each.result) for each in entries if each.result]
