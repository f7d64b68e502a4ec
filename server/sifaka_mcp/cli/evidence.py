"""`sifaka verify`, `search-evidence` and `research`: claims, questions and reports, by sources."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sifaka.chain import Chain
from sifaka.errors import ConfigurationError, SourceError
from sifaka.record.research_question import Inquiry
from sifaka.tasks.evidence import (
    EvidenceOptions,
    plan_search,
    search_each,
)
from sifaka.tasks.evidence import search_evidence as search_one
from sifaka.tasks.inquiry import MOST_ITERATIONS, MOST_SECTIONS, ready_to_research
from sifaka.tasks.verification import MOST_CLAIMS, MOST_DOCUMENTS, check_claims, check_options
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.options import ADAPTERS
from sifaka_mcp.cli.process import lines, print_text
from sifaka_mcp.cli.session import Ending, Session
from sifaka_mcp.schemas.evidence import (
    TO_JUDGE_AT_A_SHELL,
    EvidenceSearchOut,
    SourceIn,
    VerifyOut,
    documents_of,
)
from sifaka_mcp.schemas.runs import turns_in
from sifaka_mcp.view.evidence_text import found_evidence, step_of, verification
from sifaka_mcp.view.progress import TerminalProgress


@opt.command(
    opt.TEXT,
    *ADAPTERS,
    opt.group(
        "evidence",
        opt.argument(
            "--source",
            action="append",
            default=[],
            metavar="FILE",
            help="a document to hold the claims against; nothing else is searched unless named",
        ),
        *opt.FILTERS,
        opt.argument(
            "--max-documents",
            type=opt.whole_number(1, MOST_DOCUMENTS),
            default=4,
            metavar="N",
            help="for each claim",
        ),
        opt.argument(
            "--max-claims",
            type=opt.whole_number(1, MOST_CLAIMS),
            default=20,
            metavar="N",
            help="of the text, those that need evidence most",
        ),
    ),
    opt.EVIDENCE_MODEL,
    opt.argument(
        "--allow-unverified",
        action="store_true",
        help="exit 0 also when no claim could be verified",
    ),
    opt.JSON,
)
async def verify(session: Session) -> Ending:
    """Print what is known about each claim; 0 when none is contradicted and some were judged."""
    options = session.options
    if options.file == "-" and "-" in options.source:
        raise ConfigurationError("standard input is read once", "name a file for the text")
    text = opt.read_text(options.file)
    documents = documents_of([_read_source(name) for name in options.source])
    chosen = check_options(
        adapters=options.chosen_adapters,
        documents=documents,
        since=options.since,
        until=options.until,
        sites=options.site,
        max_documents=options.max_documents,
        max_claims=options.max_claims,
    )
    chain = await session.chain()
    with TerminalProgress(sys.stderr) as progress:
        report = await check_claims(
            chain, text, documents=documents, options=chosen, hear=progress.tell
        )
    out = VerifyOut.of(report, TO_JUDGE_AT_A_SHELL)
    open_ = bool(out.verdicts) and all(each.verdict == "unverified" for each in out.verdicts)
    code = 1 if out.blocking or (open_ and not options.allow_unverified) else 0
    return session.answer(out, lines([verification(out)]), code)


def _read_source(name: str) -> SourceIn:
    text = opt.read_text(name)
    if not text.strip():
        raise ConfigurationError(f"{name} is empty", "name a file with the words of a source")
    return SourceIn(text=text, title="standard input" if name == "-" else Path(name).name)


@opt.command(
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
async def search_evidence(session: Session) -> Ending:
    """Print what was found; 0 when each question has evidence that is not rejected."""
    options = session.options
    chosen = EvidenceOptions.of(
        check_options(
            adapters=options.chosen_adapters,
            since=options.since,
            until=options.until,
            sites=options.site,
        ),
        max_results=options.max_results,
        decompose=not options.no_decompose,
        verify=not options.no_verify,
    )
    outs = await _search(await session.chain(), options, chosen)
    answers = [each.model_dump(mode="json") for each in outs]
    useful = [any(e.classification != "reject" for e in each.evidence) for each in outs]
    return session.answer(
        answers[0] if len(answers) == 1 else answers,
        lambda _: print_text("\n\n".join(map(found_evidence, outs)) + "\n"),
        0 if options.plan or all(useful) else 1,
    )


async def _search(
    chain: Chain, options: argparse.Namespace, chosen: EvidenceOptions
) -> Sequence[EvidenceSearchOut]:
    with TerminalProgress(sys.stderr) as progress:
        if options.plan:
            plans = [await plan_search(chain, question) for question in options.questions]
            return [EvidenceSearchOut.of_plan(plan) for plan in plans]
        if len(options.questions) == 1:
            result = await search_one(
                chain,
                options.questions[0],
                options=chosen,
                hear=lambda step: progress.tell(step_of(step)),
            )
            return [EvidenceSearchOut.of(result)]
        entries = await search_each(chain, options.questions, options=chosen)
    if failed := [f"{each.question!r}: {each.error}" for each in entries if each.error]:
        raise SourceError("; ".join(failed), "ask the questions one by one", error_code="rejected")
    return [EvidenceSearchOut.of(each.result) for each in entries if each.result]


@opt.command(
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
async def research(session: Session) -> Ending:
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
