"""Makes a tool of a function: its arguments are read as hosts mean them, beside the event loop."""

import inspect
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, cast

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from mcp_types import Tool as ListedTool
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from sifaka._internal.explain import explain
from sifaka._internal.naming import closest
from sifaka.validators import VALIDATORS
from sifaka_mcp.failures import tool_errors
from sifaka_mcp.host.sampling import InputRequired
from sifaka_mcp.safe_text import parts_of
from sifaka_mcp.tenancy import tenant_of_request
from sifaka_mcp.tools import arguments_schema

_LARGE = 2_000
"""Characters of arguments, plain texts left out, beyond which they are read in a thread."""
_READERS = 2
"""Threads that read arguments of one tenant at the same time."""
_MOST_NAMED = 8
_NEAR = 0.82
"""The likeness from which another name counts as a slip, which must not lift a limit."""
_limiters: RunVar[dict[str | None, CapacityLimiter]] = RunVar("sifaka_readers")


def _is_large(value: object) -> bool:
    """True when a value of JSON is written with more than `_LARGE` characters; looks no further."""
    parts = ((name, part) for _, name, part in parts_of(value))
    sizes = (len(name) + (len(part) if isinstance(part, str) else 4) for name, part in parts)
    return any(size > _LARGE for size in accumulate(sizes))


@dataclass(frozen=True, kw_only=True)
class BoundedTool:
    """A tool that reads large arguments beside the event loop.

    No schema is made of it: clients are shown the one of `listed_tools`.
    """

    function: Callable[..., Awaitable[CallToolResult]]
    name: str
    listed: ListedTool
    """As a client sees it, but for the schemas."""
    one_of: tuple[str, ...]
    """Arguments of which one has to be given."""
    arguments: type[BaseModel]
    result: type[BaseModel]

    async def call(
        self, arguments: Mapping[str, Any], ctx: Context[Any, Any]
    ) -> CallToolResult | InputRequiredResult:
        """Answer a call, and name the arguments which the tool does not have.

        Raises:
            ToolError: An argument is missing, is near to a real one, or cannot be read, or the
                tool failed.
        """
        fields = self.arguments.model_fields
        listed = arguments_schema(self.name)["properties"]
        used = {name: value for name, value in arguments.items() if name in listed}
        ignored = [name for name in arguments if name not in listed]
        texts = {name for name, field in fields.items() if field.annotation is str}
        with tool_errors(self.name):
            if _is_large([used[name] for name in used.keys() - texts]):
                limiter = _limiter_of_tenant()
                values = await anyio.to_thread.run_sync(self._parse, used, ignored, limiter=limiter)
            else:
                values = self._parse(used, ignored)
            try:
                result = await self.function(ctx=ctx, **values)
            except InputRequired as asking:
                return asking.result
        if ignored:
            _name_ignored(result, ignored)
        return result

    def _parse(self, arguments: Mapping[str, Any], others: Sequence[str]) -> dict[str, Any]:
        """The arguments as the host means them, checked.

        Raises:
            ToolError: Some are missing or cannot be read, or others are near to a real one.
        """
        schema = arguments_schema(self.name)
        parsed, fields = as_meant(arguments, schema), schema["properties"]
        missing = [name for name in schema.get("required", ()) if name not in parsed]
        if self.one_of and not any(name in parsed for name in self.one_of):
            *rest, last = self.one_of
            missing.append(f"{', '.join(rest)} or {last}")
        faults = [f"missing: {', '.join(missing)}"] if missing else []
        for name in others:
            if (near := closest(name, fields, similarity=_NEAR)) is not None:
                faults.append(f"unknown argument {name[:40]!r}, did you mean {near!r}?")
            elif (
                around := next((n for n in fields if name in _option_names(fields[n])), None)
            ) is not None:
                faults.append(f"{name!r} is no argument, it is an option in {around!r}")
        if faults:
            raise ToolError(f"{self.name}: {'; '.join(faults)}; known: {', '.join(fields)}")
        try:
            return dict(self.arguments.model_validate(parsed))
        except ValidationError as error:
            raise ToolError(explain(error, tags=tuple(VALIDATORS))) from error


def define(
    *,
    title: str,
    description: str,
    read_only: bool = False,
    idempotent: bool = True,
    open_world: bool,
    meta: Mapping[str, Any] | None = None,
    one_of: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], BoundedTool]:
    """Make a tool of the function below it, which returns `Annotated[CallToolResult, Model]`.

    One of the arguments `one_of` is required; no dialect of schemas that hosts share can say so.

    Arguments of other names are ignored and named, as hosts add their own; one that is near to a
    real name is refused.
    """

    def make_tool(function: Callable[..., Any]) -> BoundedTool:
        name, signature = function.__name__, inspect.signature(function, eval_str=True)
        fields: dict[str, Any] = {
            each.name: (each.annotation, ... if each.default is each.empty else each.default)
            for each in signature.parameters.values()
            if each.name != "ctx"
        }
        return BoundedTool(
            function=function,
            name=name,
            listed=ListedTool(
                name=name,
                title=title,
                description=description,
                input_schema={},
                annotations=ToolAnnotations(
                    read_only_hint=read_only,
                    destructive_hint=None if read_only else False,
                    idempotent_hint=idempotent,
                    open_world_hint=open_world,
                ),
                _meta=None if meta is None else dict(meta),
            ),
            one_of=one_of,
            arguments=create_model(
                f"{name}Arguments", __config__=ConfigDict(extra="forbid"), **fields
            ),
            result=signature.return_annotation.__metadata__[0],
        )

    return make_tool


def _name_ignored(result: CallToolResult, ignored: Sequence[str]) -> None:
    """Say in a result which arguments the tool does not have."""
    names = ", ".join(repr(name[:40]) for name in ignored[:_MOST_NAMED])
    line = f"ignored, as there are no such arguments: {names}"
    result.content.append(TextContent(type="text", text=line))
    data: dict[str, Any] = result.structured_content or {}
    if "degraded" in data:
        data["degraded"].append(line)


def as_meant(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value as its host means it, by the schema that is listed for it.

    Null and "" are as if they were left out, where they may be. A list or an object may be JSON in
    a string, and a list of one word that word.
    """
    kind: object = schema.get("type")
    inner: dict[str, Any] = schema.get("items", {})
    parsed: object = value
    if isinstance(value, str) and kind in {"array", "object"}:
        parsed = _parse_json(value, [value] if inner.get("type") == "string" else value)
    if isinstance(parsed, list) and kind == "array":
        return [as_meant(each, inner) for each in cast("list[object]", parsed)]
    if not isinstance(parsed, dict) or kind != "object":
        return cast("object", parsed)
    properties, needed = schema.get("properties", {}), schema.get("required", ())
    return {
        name: as_meant(item, properties.get(name, {}))
        for name, item in cast("dict[str, object]", parsed).items()
        if not _is_left_out(item, properties.get(name, {}), needed=name in needed)
    }


def _parse_json(text: str, default: object) -> Any:
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError):
        return default
    return cast("object", parsed) if isinstance(parsed, list | dict) else text


def _is_left_out(value: object, schema: Mapping[str, Any], *, needed: bool) -> bool:
    if value == "null":
        return schema.get("type") in {"array", "boolean", "integer", "number", "object"}
    return value is None or (value == "" and not needed)


def _option_names(schema: Mapping[str, Any]) -> Collection[str]:
    """The names of the options inside an argument, but for those that hosts have themselves."""
    return schema.get("items", schema).get("properties", {}).keys() - {"type", "name"}


def _limiter_of_tenant() -> CapacityLimiter:
    limiters = _limiters.get(None)
    if limiters is None:
        _limiters.set(limiters := {})
    tenant = tenant_of_request()
    return limiters.setdefault(tenant, CapacityLimiter(_READERS))
