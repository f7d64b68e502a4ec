"""A text that is named in place of being sent: a version of a run, or a file of a granted root."""

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import anyio.to_thread
from mcp_types import InputRequiredResult, ListRootsRequest, ListRootsResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from sifaka._internal.safe_open import read_beneath
from sifaka.errors import ConfigurationError
from sifaka.record.rule_choice import RuleChoice
from sifaka.text.input import MAX_TEXT
from sifaka_mcp.host.sampling import InputRequired
from sifaka_mcp.tools.answer import ToolContext, state_of

_ROOTS = "roots"
"""The key of the question for them."""
_MOST_BYTES = 4 * MAX_TEXT


async def text_of(ctx: ToolContext, text: str, source: str) -> str:
    """The text of a call, given or named.

    Args:
        ctx: The request.
        text: The text, if it is given.
        source: What names it, if it is not: `thought://ID`, with or without `/text`; `run://ID`
            for the best version of a run; on stdio a path, or a `file:` URI, inside a root that the
            client grants.

    Raises:
        ConfigurationError: Both are given, or what is named is none of these or cannot be read.
        ThoughtNotFound: There is no such version or run.
        InputRequired: The client has to be asked for its roots first.
    """
    if not source:
        return text
    if text:
        raise ConfigurationError("there are a text and a source", "give one of them")
    scheme, _, rest = source.partition("://")
    if scheme in {"thought", "run"}:
        return await _text_of_version(ctx, scheme, rest.removesuffix("/text"))
    path = _path_of(source)
    if path is None:
        raise ConfigurationError(
            f"source {source[:80]!r} names no text",
            "give thought://ID, run://ID or an absolute path",
        )
    if ctx.request_context.request is not None:
        raise ConfigurationError(
            "files are not read for clients over HTTP", "send the text, or name a version"
        )
    roots = await _ask_for_roots(ctx)
    return await anyio.to_thread.run_sync(_read_file, path, roots)


async def lint_rules_of(ctx: ToolContext, source: str) -> RuleChoice | None:
    """The editor's rules for a text, by the project of its file, or by that of the current folder.

    None for the default ones, as for every client over HTTP.

    Raises:
        ConfigurationError: The file with the rules cannot be read, or is wrong.
    """
    if ctx.request_context.request is not None:
        return None
    from sifaka_mcp.settings.project_rules import rules_for

    return await anyio.to_thread.run_sync(rules_for, _path_of(source) or Path("-"))


def _path_of(source: str) -> Path | None:
    """The path that a source is, if it is one."""
    if source.startswith("file://"):
        return Path(unquote(urlsplit(source).path))
    path = Path(source)
    return path if path.is_absolute() else None


def asked_again(ctx: ToolContext, waiting: InputRequired) -> InputRequired:
    """Further questions, and once more that for the roots, if a text was read by its answer."""
    if _ROOTS not in (ctx.input_responses or {}):
        return waiting
    requests = {**(waiting.result.input_requests or {}), _ROOTS: ListRootsRequest()}
    return InputRequired(waiting.result.model_copy(update={"input_requests": requests}))


async def _text_of_version(ctx: ToolContext, scheme: str, name: str) -> str:
    store = state_of(ctx).store
    if scheme == "run":
        name = (await store.load(name)).champion_id or f"{name}.0"
    return (await store.load_thought(name)).text


async def _ask_for_roots(ctx: ToolContext) -> list[Path]:
    capabilities = ctx.client_capabilities
    if capabilities is None or capabilities.roots is None:
        raise ConfigurationError(
            "the client grants no roots, so no file can be read", "send the text"
        )
    request = ListRootsRequest()
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        granted = (ctx.input_responses or {}).get(_ROOTS)
    else:
        granted = await ctx.session.send_request(request, result_type=ListRootsResult)
    if not isinstance(granted, ListRootsResult):
        raise InputRequired(
            InputRequiredResult(input_requests={_ROOTS: request}, request_state="{}")
        )
    return _paths_of_roots(granted)


def _paths_of_roots(granted: ListRootsResult) -> list[Path]:
    urls = (urlsplit(str(root.uri)) for root in granted.roots)
    # Not `resolve`, which raises for a loop of links before Python 3.13.
    return [Path(os.path.realpath(unquote(url.path))) for url in urls if url.scheme == "file"]


def _read_file(path: Path, roots: Iterable[Path]) -> str:
    """The text of a file, wherever its links lead, that is inside a root and not hidden in it.

    Raises:
        ConfigurationError: It is outside, hidden, no file, too long or not UTF-8.
    """
    try:
        real_path = Path(os.path.realpath(path))
        root = next((each for each in roots if real_path.is_relative_to(each)), None)
        if root is None:
            raise ConfigurationError(
                f"{path.name!r} is in no root that the client grants", "send the text"
            )
        # What has become of the links since they were resolved is seen by the opener.
        return read_beneath(real_path, _MOST_BYTES, root, hidden=False).decode("utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigurationError(
            f"{path.name!r} cannot be read: {reason}", "send the text"
        ) from error
