"""`verify_evidence` and `search_evidence`: what sources say about claims, or about a question."""

from typing import Annotated

import anyio.to_thread
from mcp_types import CallToolResult
from pydantic import Field

from sifaka.calls.host import Suspended
from sifaka.tasks.evidence import EvidenceOptions, plan_search
from sifaka.tasks.evidence import search_evidence as search
from sifaka.tasks.verification import MOST_CLAIMS, MOST_DOCUMENTS, check_claims, check_options
from sifaka_mcp.host.sampling import Exchange
from sifaka_mcp.schemas.arguments import BudgetLimits, NameList
from sifaka_mcp.schemas.evidence import (
    EvidenceSearchOut,
    JudgementIn,
    SourceList,
    VerifyOut,
    documents_of,
)
from sifaka_mcp.tenancy import may_only_read
from sifaka_mcp.tools.answer import ToolContext, answer, state_of
from sifaka_mcp.tools.awaited_run import counter
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.named_text import asked_again, text_of
from sifaka_mcp.ui.apps import SHOWN
from sifaka_mcp.view.evidence_text import found_evidence, step_of, verification

Since = Annotated[str, Field(description="only documents of then or later")]
Until = Annotated[str, Field(description="only documents of before")]
Sites = Annotated[NameList, Field(description="only from these hosts")]


@define(
    title="Verify the claims of a text",
    description="Hold the claims of fact in a text, or given ones, against sources: which are "
    "supported or contradicted, with quotes, places and dates. Give `sources` or search the "
    "configured ones. Without a model: the passages, for you to judge (`run_id` and "
    "`judgements`); only such a check is stored.",
    read_only=True,
    open_world=True,
    meta=SHOWN,
    one_of=("text", "source", "claims", "run_id"),
)
async def verify_evidence(
    ctx: ToolContext,
    text: Annotated[str, Field(description="whose claims to find and check")] = "",
    source: Annotated[str, Field(description="URI or path of `text`")] = "",
    claims: Annotated[
        list[str] | None, Field(description="what to check instead; found in `text` if given")
    ] = None,
    sources: SourceList = None,
    adapters: Annotated[
        NameList, Field(description="where to search; by default everywhere, or only in `sources`")
    ] = None,
    since: Since = "",
    until: Until = "",
    sites: Sites = None,
    model: Annotated[str, Field(description="auto, host or provider:name")] = "auto",
    budget: BudgetLimits = None,
    max_documents: Annotated[int, Field(ge=1, le=MOST_DOCUMENTS, description="for each claim")] = 4,
    max_claims: Annotated[int, Field(ge=1, le=MOST_CLAIMS, description="of `text`")] = 20,
    run_id: Annotated[str, Field(description="of the check that you judge")] = "",
    judgements: Annotated[
        list[JudgementIn] | None,
        Field(max_length=MOST_CLAIMS, description="your own, by the passages shown"),
    ] = None,
) -> Annotated[CallToolResult, VerifyOut]:
    """See the tool's description."""
    content = await text_of(ctx, text, source)
    exchange = Exchange.of(ctx)
    documents = documents_of(sources)
    options = check_options(
        adapters=adapters or (),
        documents=documents,
        since=since,
        until=until,
        sites=sites or (),
        max_documents=max_documents,
        max_claims=max_claims,
    )
    chain = await state_of(ctx).chain(
        model=model, host=exchange.host, absent=exchange.absent, critics=(), budget=budget
    )
    try:
        report = await check_claims(
            chain,
            content,
            claims=claims or None,
            documents=documents,
            options=options,
            judgements=judgements or (),
            frame_key=exchange.review_id,
            hear=counter(ctx),
            keep=not may_only_read(),
            run_id=run_id,
        )
    except Suspended as waiting:
        raise asked_again(ctx, exchange.ask(waiting)) from None
    out = VerifyOut.of(report)
    return answer(verification(out), out)


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
    since: Since = "",
    until: Until = "",
    sites: Sites = None,
    model: Annotated[str, Field(description="auto, host or provider:name")] = "auto",
    budget: BudgetLimits = None,
    max_results: Annotated[int, Field(ge=1, le=100, description="documents at most")] = 10,
) -> Annotated[CallToolResult, EvidenceSearchOut]:
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
        raise exchange.ask(waiting) from None
    return answer(found_evidence(out), out)
