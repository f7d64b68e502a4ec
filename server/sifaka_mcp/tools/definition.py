"""Makes a tool of a function: its arguments are read as hosts mean them, beside the event loop."""

import inspect
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, cast, get_args, get_origin

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from sifaka._internal.naming import closest
from sifaka_mcp.tenancy import tenant_of_request
from sifaka_mcp.tools import arguments_schema

_MUCH = 2_000
"""Characters of arguments, plain texts left out, beyond which they are read in a thread."""
_READERS = 2
"""Threads that read arguments of one tenant at the same time."""
_MOST_NAMED = 8
_NEAR = 0.82
"""The likeness from which another name is taken for a slip, which must not lift a limit."""
_limiters: RunVar[dict[str | None, CapacityLimiter]] = RunVar("sifaka_readers")
_CONTEXT = "ctx"
"""The parameter of each function that gets the context of the call."""


def _is_much(value: object) -> bool:
    """True when a value of JSON is written with more than `_MUCH` characters; looks no further."""
    left, pending = _MUCH, [value]
    while pending and left >= 0:
        each = pending.pop()
        left -= len(each) + 2 if isinstance(each, str) else 4
        if isinstance(each, dict):
            pending += [part for pair in cast("dict[str, object]", each).items() for part in pair]
        elif isinstance(each, list):
            pending += cast("list[object]", each)
    return left < 0


class _Arguments(ArgModelBase):
    model_config = ConfigDict(extra="forbid")


def define(
    *,
    title: str,
    description: str,
    read_only: bool = False,
    idempotent: bool = True,
    open_world: bool,
    meta: Mapping[str, Any] | None = None,
    one_of: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of the function below it, which returns `Annotated[CallToolResult, Model]`.

    One of the arguments `one_of` is required; no dialect of schemas that hosts share can say so.

    Arguments of other names are ignored and named, as hosts add their own; one that is near to a
    real name is refused. No schema is made of it: clients are shown the one of `listed_tools`.
    """

    def made(function: Callable[..., Any]) -> Tool:
        name, signature = function.__name__, inspect.signature(function, eval_str=True)
        fields = {
            each.name: (each.annotation, ... if each.default is each.empty else each.default)
            for each in signature.parameters.values()
            if each.name != _CONTEXT
        }
        arguments: type[_Arguments] = create_model(
            f"{name}Arguments", __base__=_Arguments, **cast("dict[str, Any]", fields)
        )
        return BoundedTool(
            fn=function,
            name=name,
            title=title,
            description=description,
            parameters={},
            fn_metadata=FuncMetadata(
                arg_model=arguments,
                output_model=_model_of(signature.return_annotation),
                output_schema={},  # else the SDK would make one
            ),
            is_async=True,
            context_kwarg=_CONTEXT,
            annotations=ToolAnnotations(
                read_only_hint=read_only,
                destructive_hint=None if read_only else False,
                idempotent_hint=idempotent,
                open_world_hint=open_world,
            ),
            meta=None if meta is None else dict(meta),
            one_of=one_of,
        )

    return made


def _model_of(annotation: Any) -> type[BaseModel]:
    """The model of `Annotated[CallToolResult, Model]`, which may stand in a union."""
    (model,) = (
        option.__metadata__[0]
        for option in (annotation, *get_args(annotation))
        if get_origin(option) is Annotated and get_args(option)[0] is CallToolResult
    )
    return model


class BoundedTool(Tool):
    """A tool that reads large arguments beside the event loop."""

    one_of: tuple[str, ...] = ()
    """Arguments of which one has to be given."""

    async def read(
        self, arguments: Mapping[str, Any]
    ) -> tuple[Tool, dict[str, Any], Sequence[str]]:
        """Read the arguments of a call.

        Returns:
            The tool to run, its arguments as they are meant, and the names of further ones.

        Raises:
            ToolError: One is missing, is near to a real one, or cannot be read.
        """
        fields = self.fn_metadata.arg_model.model_fields
        schema = arguments_schema(self.name)
        known = {name: given for name, given in arguments.items() if name in schema["properties"]}
        ignored = [name for name in arguments if name not in known]
        texts = {name for name, field in fields.items() if field.annotation is str}
        if not _is_much([known[name] for name in known.keys() - texts]):
            known = as_meant(known, schema)
            self._check(known, ignored)
            return self, known, ignored

        def validated() -> dict[str, Any]:
            meant = as_meant(known, schema)
            self._check(meant, ignored)
            return self.fn_metadata.validate_arguments(meant)

        try:
            values = await anyio.to_thread.run_sync(validated, limiter=_limiter())
        except ValidationError as error:
            raise ToolError(f"Error executing tool {self.name}: {error}") from error
        about: dict[str, Any] = dict(self.fn_metadata)
        metadata = _Read.model_construct(**about, values=values)
        own: dict[str, Any] = {**dict(self), "fn_metadata": metadata}
        return Tool.model_construct(**own), known, ignored

    @staticmethod
    def naming(ignored: Sequence[str], result: Any) -> Any:
        """A result that names the arguments which the tool does not have."""
        if not ignored or not isinstance(result, CallToolResult):
            return result
        names = ", ".join(repr(name[:40]) for name in ignored[:_MOST_NAMED])
        line = f"ignored, as there are no such arguments: {names}"
        result.content.append(TextContent(type="text", text=line))
        data: dict[str, Any] = result.structured_content or {}
        if "degraded" in data:
            data["degraded"].append(line)
        return result

    def _check(self, arguments: Mapping[str, object], others: list[str]) -> None:
        """Refuse the lack of arguments, and others that are near to a real one, all at once.

        Raises:
            ToolError: There are some; the message has what there is instead.
        """
        schema = arguments_schema(self.name)
        known = schema["properties"]
        missing = [name for name in schema.get("required", ()) if name not in arguments]
        if self.one_of and not any(name in arguments for name in self.one_of):
            *rest, last = self.one_of
            missing.append(f"{', '.join(rest)} or {last}")
        said = [f"missing: {', '.join(missing)}"] if missing else []
        for name in others:
            if (near := closest(name, known, similarity=_NEAR)) is not None:
                said.append(f"unknown argument {name[:40]!r}, did you mean {near!r}?")
            elif (
                around := next((n for n in known if name in _options(known[n])), None)
            ) is not None:
                said.append(f"{name!r} is no argument, it is an option in {around!r}")
        if said:
            raise ToolError(f"{self.name}: {'; '.join(said)}; known: {', '.join(known)}")


def as_meant(value: Any, schema: Mapping[str, Any]) -> Any:
    """A value as its host means it, by the schema that is listed for it.

    Null and "" are as if they were left out, where they may be. A list or an object may be JSON in
    a string, and a list of one word that word.
    """
    kind: object = schema.get("type")
    inner: dict[str, Any] = schema.get("items", {})
    meant: object = value
    if isinstance(value, str) and kind in {"array", "object"}:
        meant = _parsed(value, [value] if inner.get("type") == "string" else value)
    if isinstance(meant, list) and kind == "array":
        return [as_meant(each, inner) for each in cast("list[object]", meant)]
    if not isinstance(meant, dict) or kind != "object":
        return cast("object", meant)
    known, needed = schema.get("properties", {}), schema.get("required", ())
    return {
        name: as_meant(given, known.get(name, {}))
        for name, given in cast("dict[str, object]", meant).items()
        if not _is_left_out(given, known.get(name, {}), needed=name in needed)
    }


def _parsed(text: str, otherwise: object) -> Any:
    try:
        read: Any = json.loads(text)
    except (ValueError, RecursionError):
        return otherwise
    return cast("object", read) if isinstance(read, list | dict) else text


def _is_left_out(given: object, schema: Mapping[str, Any], *, needed: bool) -> bool:
    if given == "null":
        return schema.get("type") in {"array", "boolean", "integer", "number", "object"}
    return given is None or (given == "" and not needed)


def _options(schema: Mapping[str, Any]) -> Collection[str]:
    """The names of the options inside an argument, but for those that hosts have themselves."""
    return schema.get("items", schema).get("properties", {}).keys() - {"type", "name"}


class _Read(FuncMetadata):
    """The metadata of a tool whose arguments have been read."""

    values: dict[str, Any]

    def validate_arguments(self, arguments_to_validate: dict[str, Any]) -> dict[str, Any]:
        return self.values


def _limiter() -> CapacityLimiter:
    limiters = _limiters.get(None)
    if limiters is None:
        _limiters.set(limiters := {})
    tenant = tenant_of_request()
    return limiters.setdefault(tenant, CapacityLimiter(_READERS))
