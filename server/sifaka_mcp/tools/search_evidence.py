"""`search_evidence`: documents that help with a question, and the worth of each."""

from typing import Annotated

import anyio.to_thread
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import Field

from sifaka.calls.host import Suspended
from sifaka.tasks.evidence import EvidenceOptions, plan_search
from sifaka.tasks.evidence import search_evidence as search
from sifaka.tasks.verification import check_options
from sifaka_mcp.host.sampling import Exchange
from sifaka_mcp.schemas.arguments import BudgetLimits, NameList
from sifaka_mcp.schemas.evidence_search import EvidenceSearchOut
from sifaka_mcp.tools.answer import ToolContext, answer, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.follow import counter
from sifaka_mcp.view.evidence_text import found_evidence, step_of


@define(
    title="Search evidence for a question",
    description="Plan a search, make it in the configured sources, and judge each document by "
    "criteria: perfect, partial or reject, with quotes. Without a model: ranked passages, for "
    "you to judge. Stores nothing.",
    read_only=True,
    open_world=True,
)
async def search_evidence(
    ctx: ToolContext,
    question: Annotated[
        str, Field(min_length=1, description="what the documents are to help with")
    ],
    plan_only: Annotated[bool, Field(description="queries and criteria, no search")] = False,
    adapters: Annotated[
        NameList, Field(description="where to search; by default everywhere")
    ] = None,
    since: Annotated[str, Field(description="only documents of then or later")] = "",
    until: Annotated[str, Field(description="only documents of before")] = "",
    sites: Annotated[NameList, Field(description="only from these hosts")] = None,
    model: Annotated[str, Field(description="auto, host or provider:name")] = "auto",
    budget: BudgetLimits = None,
    max_results: Annotated[int, Field(ge=1, le=100, description="documents at most")] = 10,
) -> Annotated[CallToolResult, EvidenceSearchOut] | InputRequiredResult:
    """See the tool's description."""
    exchange = Exchange.of(ctx)
    checked = check_options(adapters=adapters or (), since=since, until=until, sites=sites or ())
    options = EvidenceOptions.of(checked, max_results=max_results)
    chain = await state_of(ctx).chain(model=model, host=exchange.host, critics=(), budget=budget)
    report = counter(ctx)
    try:
        if plan_only:
            plan = await plan_search(chain, question, frame_key=exchange.review_id)
            out = EvidenceSearchOut.of_plan(plan)
        else:
            result = await search(
                chain,
                question,
                options=options,
                frame_key=exchange.review_id,
                hear=lambda step: report(step_of(step)),
            )
            out = await anyio.to_thread.run_sync(EvidenceSearchOut.of, result)
    except Suspended as waiting:
        return exchange.ask(waiting)
    return answer(found_evidence(out), out)
