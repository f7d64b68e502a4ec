"""`sifaka search-evidence`: documents that help with a question, and the worth of each."""

import argparse
import sys
from collections.abc import Sequence

import anyio

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
from sifaka_mcp.cli.output import print_json, print_text
from sifaka_mcp.cli.signals import termination_interrupts
from sifaka_mcp.schemas.evidence_search import EvidenceSearchOut, as_csv, as_json_lines
from sifaka_mcp.settings import Settings
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
    opt.either(
        opt.argument("--csv", action="store_true", help="print a table with a row a document"),
        opt.argument("--jsonl", action="store_true", help="print a JSON object a document"),
        opt.JSON,
    ),
)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Print what was found; 0 when each question has evidence that is not rejected."""
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
    chain = opt.chain_of(options, settings)

    async def work() -> Sequence[EvidenceSearchOut]:
        questions: list[str] = options.questions
        with TerminalProgress(sys.stderr) as progress:
            async with opt.closing(chain):
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
        failed = [f"{each.question!r}: {each.error}" for each in entries if each.error]
        if failed:
            raise SourceError("; ".join(failed), "ask the questions one by one", code="rejected")
        return [EvidenceSearchOut.of(each.result) for each in entries if each.result]

    with termination_interrupts():
        outs = anyio.run(work)
    _print(outs, options)
    if options.plan:
        return 0
    useful = [any(e.classification != "reject" for e in each.evidence) for each in outs]
    return 0 if all(useful) else 1


def _print(outs: Sequence[EvidenceSearchOut], options: argparse.Namespace) -> None:
    if options.csv:
        print_text(as_csv(outs))
    elif options.jsonl:
        print_text(as_json_lines(outs))
    elif options.json:
        told = [each.model_dump(mode="json") for each in outs]
        print_json(told[0] if len(told) == 1 else told)
    else:
        print_text("\n\n".join(map(found_evidence, outs)) + "\n")
