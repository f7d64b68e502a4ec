"""Answers that are complete in two forms: as text for a model, as data for a program."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ResourceLink, TextContent
from pydantic import BaseModel

from sifaka.record.thought import Thought
from sifaka_mcp.host.session import warn
from sifaka_mcp.safe_text import parts_of, shown
from sifaka_mcp.schemas.runs import Return, RunAnswer, TextOut, out_of
from sifaka_mcp.state import AppState
from sifaka_mcp.view.text import improvement

if TYPE_CHECKING:
    from sifaka.chain import RunResult

T = TypeVar("T")
ToolContext = Context[AppState, object]
_LONG = 1_000
"""Characters of a text from which the answer about it is made in a thread."""
LARGEST = 40_000
"""Characters of the structured part, as JSON, beside the text that was asked for."""
_PAGE = LARGEST - 2_000
_LONGEST_WORDS = 1_000
"""Characters that are left of words that are too long."""
_WHOLE = frozenset({"text", "instructions", "ledger"})
"""Fields whose words stay whole."""
_EXACT = frozenset({"text", "before", "after"})
"""Fields that are the text itself, or say how it changes: each of their characters stays."""


def state_of(ctx: ToolContext) -> AppState:
    """The state of this server, as the tenant of the request sees it."""
    return ctx.request_context.lifespan_context.of_request()


async def beside_the_loop(make: Callable[[], T], *, if_long: bool) -> T:
    """What a function makes: in a thread where that takes longer than a thread to start.

    Differences and long lists of issues would hold up all other requests.
    """
    return await anyio.to_thread.run_sync(make) if if_long else make()


def answer(text: str, data: BaseModel) -> CallToolResult:
    """The result of a tool. Hosts show their model either part; each says what is needed."""
    content, left_out = within(plain(data.model_dump(mode="json")))
    if left_out:
        content.setdefault("degraded", []).extend(left_out)
    return CallToolResult(
        content=[TextContent(type="text", text="\n".join([text, *left_out]))],
        structured_content=content,
    )


async def answer_with_text(
    result: "RunResult",
    how: Return = "auto",
    known: Thought | None = None,
    *,
    ctx: ToolContext | None = None,
) -> CallToolResult:
    """The answer of a tool about a run, with as much of its text as the caller needs.

    A long text is in one part alone, and the other links it, unless the caller asks for it.

    Args:
        result: The run, or one after a submission.
        how: As the caller wants the text.
        known: The version that the caller has; None for version 0, if that was given.
        ctx: The request, whose client may want to be sent warnings.
    """
    if known is None and (first := result.run.original) is not None and first.author == "input":
        known = first

    if ctx is not None:
        await warn(ctx, result.degraded)

    def make_out() -> RunAnswer:
        return out_of(result, TextOut.of(result, how, known.text if known else None))

    out = await beside_the_loop(make_out, if_long=len(result.text) > _LONG)
    is_linked = out.text_uri is not None and how != "text"
    tool_result = answer(improvement(out, is_linked=is_linked), out)
    if is_linked and out.text_uri is not None:
        tool_result.content.append(
            ResourceLink(
                name=f"text of {out.thought_id}",
                uri=out.text_uri,
                mime_type="text/plain",
                size=len(result.text.encode("utf-8", "surrogatepass")),
            )
        )
    return tool_result


def _json_size(data: object) -> int:
    """The characters of a part of an answer."""
    return len(json.dumps(data, ensure_ascii=False))


def plain(data: Any, name: str = "") -> Any:
    """An answer without characters that nobody sees, which may hide words to a model."""
    if isinstance(data, dict):
        return {key: plain(value, key) for key, value in cast("dict[str, object]", data).items()}
    if isinstance(data, list):
        return [plain(each, name) for each in cast("list[object]", data)]
    return shown(data) if isinstance(data, str) and name not in _EXACT else data


def fitting(parts: Iterable[BaseModel]) -> int:
    """The number of parts that one answer has room for, beside what it says of them; at least 1."""
    sizes = accumulate(_json_size(part.model_dump(mode="json")) for part in parts)
    return max(1, sum(size <= _PAGE for size in sizes))


def within(data: dict[str, Any], most: int = LARGEST) -> tuple[dict[str, Any], tuple[str, ...]]:
    """An answer without the ends of its longest lists, where it is too large.

    Returns:
        The answer, and a line for each kind of list that was cut.
    """
    if _size_without_text(data) <= most:
        return data, ()
    _shorten_words(data)
    cut: Counter[str] = Counter()
    while (size := _size_without_text(data)) > most:
        parts = (part for part in parts_of(data) if isinstance(part[2], list))
        lists = [(_json_size(part), name, cast("list[Any]", part)) for _, name, part in parts]
        lists = [each for each in lists if len(each[2]) > 1]
        if not lists:
            break
        large, name, part = max(lists, key=itemgetter(0))
        kept = max(1, int(len(part) * max(0.5, 1 - (size - most) / large)) - 1)
        cut[name] += len(part) - kept
        del part[kept:]
    return data, tuple(
        f"{name}: {left} more are left out, as the answer would be too large"
        for name, left in cut.items()
    )


def _size_without_text(data: dict[str, Any]) -> int:
    """The size of an answer without its text, which may be long and is not written for that."""
    return _json_size({name: value for name, value in data.items() if name != "text"})


def _shorten_words(data: object) -> None:
    """Cut the words that are too long, but for those that are whole or nothing."""
    for node, name, value in list(parts_of(data)):
        is_long = isinstance(value, str) and len(value) > _LONGEST_WORDS
        if is_long and isinstance(node, dict) and name not in _WHOLE:
            node[name] = f"{str(value)[: _LONGEST_WORDS - 1]}…"
