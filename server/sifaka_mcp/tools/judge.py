"""`validate_text` and `critique_text`: judgements of a text; they store nothing."""

from collections.abc import Sequence
from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from sifaka.calls.host import Suspended
from sifaka.errors import ConfigurationError
from sifaka.tasks import validate
from sifaka.tasks.history import number_of
from sifaka_mcp.host.sampling import Exchange
from sifaka_mcp.schemas.arguments import BudgetLimits, CriticList, ValidatorList
from sifaka_mcp.schemas.evidence import MOST_SOURCES, SourceIn, documents_of
from sifaka_mcp.schemas.verdicts import CritiqueTextOut, IssueOut, ValidateOut
from sifaka_mcp.tools.answer import ToolContext, answer, beside_the_loop, fitting, state_of
from sifaka_mcp.tools.definition import define
from sifaka_mcp.tools.named_text import asked_again, lint_rules_of, text_of
from sifaka_mcp.view.text import critique, verdicts

_PAGE = 40
"""Issues of a page, each of which its words name."""
Cursor = Annotated[str, Field(description="`next_cursor` of the page before")]


def _cut_to_page(lists: Sequence[list[IssueOut]], seen: int) -> str | None:
    """Leave the issues of one page in their lists.

    Args:
        lists: The issues of each part of an answer.
        seen: The number of issues on the pages before.

    Returns:
        The cursor of the next page; None on the last one.
    """
    end = seen + fitting([issue for issues in lists for issue in issues][seen : seen + _PAGE])
    count = 0
    for issues in lists:
        first, count = count, count + len(issues)
        issues[:] = issues[max(0, seen - first) : max(0, end - first)]
    return str(end) if end < count else None


@define(
    title="Validate a text",
    description="Check a text by rules, without a model: which fail, where, why, and certain "
    "fixes.",
    read_only=True,
    open_world=False,
    one_of=("text", "source"),
)
async def validate_text(
    ctx: ToolContext,
    *,
    text: Annotated[str, Field(description="the text to check")] = "",
    source: Annotated[str, Field(description="or its URI or path")] = "",
    validators: Annotated[ValidatorList, Field(max_length=50)],
    original: Annotated[str, Field(description="what preserve compares it with")] = "",
    cursor: Cursor = "",
) -> Annotated[CallToolResult, ValidateOut]:
    """See the tool's description."""
    content = await text_of(ctx, text, source)
    if not content:
        raise ConfigurationError("the text is empty", "give the text to check, or its source")
    seen, plugins = number_of(cursor), state_of(ctx).plugins
    report = await validate(content, validators, original=original, plugins=plugins)

    def make_page() -> CallToolResult:
        out = ValidateOut.of(report)
        out.next_cursor = _cut_to_page([each.issues for each in out.results], seen)
        return answer(verdicts(out), out)

    return await beside_the_loop(
        make_page, if_long=sum(len(each.issues) for each in report.results) > _PAGE
    )


@define(
    title="Criticise a text",
    description="Issues that quote a text; without a model by rules, and a rubric.",
    read_only=True,
    open_world=True,
    one_of=("text", "source"),
)
async def critique_text(
    ctx: ToolContext,
    text: Annotated[str, Field(description="the text to judge")] = "",
    source: Annotated[str, Field(description="or its URI or path")] = "",
    critics: CriticList = None,
    prompt: Annotated[str, Field(description="the task it was written for")] = "",
    original: Annotated[str, Field(description="what it is a revision of")] = "",
    sources: Annotated[
        list[str] | None,
        Field(max_length=MOST_SOURCES, description="texts that its facts come from"),
    ] = None,
    model: Annotated[
        str, Field(description="who judges: auto, host (your client's model) or provider:name")
    ] = "auto",
    budget: BudgetLimits = None,
    cursor: Cursor = "",
) -> Annotated[CallToolResult, CritiqueTextOut]:
    """See the tool's description."""
    from sifaka.tasks.criticism import review

    content = await text_of(ctx, text, source)
    if not content:
        raise ConfigurationError("the text is empty", "give the text to judge, or its source")
    seen, exchange = number_of(cursor), Exchange.of(ctx)
    chain = await state_of(ctx).chain(
        model=model,
        host=exchange.host,
        absent=exchange.absent,
        critics=critics,
        budget=budget,
        lint_rules=await lint_rules_of(ctx, source),
    )
    try:
        report = await review(
            chain,
            content,
            prompt,
            original=original,
            documents=documents_of([SourceIn(text=each) for each in sources or ()]),
            review_id=exchange.review_id,
        )
    except Suspended as waiting:
        raise asked_again(ctx, exchange.ask(waiting)) from None

    def make_page() -> CallToolResult:
        out = CritiqueTextOut.of(report)
        out.next_cursor = _cut_to_page([out.issues], seen)
        return answer(critique(out), out)

    return await beside_the_loop(
        make_page, if_long=sum(len(each.issues) for each in report.feedback) > _PAGE
    )
