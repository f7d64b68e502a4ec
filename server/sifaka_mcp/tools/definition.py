"""Makes a tool of a function: strict about its arguments, which are read beside the event loop."""

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Annotated, Any, cast, get_args, get_origin

import anyio.to_thread
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from sifaka._internal.naming import closest
from sifaka_mcp.tenancy import tenant_of_request

_MUCH = 2_000
"""Characters of arguments, plain texts left out, beyond which they are read in a thread."""
_READERS = 2
"""Threads that read arguments of one tenant at the same time."""
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

    Unknown arguments are refused, not ignored. No schema is made of it: clients are shown the one
    in the file of `listed_tools`.
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

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """See `Tool.run`."""
        fields = self.fn_metadata.arg_model.model_fields
        self._check_names(arguments)
        texts = {name for name, field in fields.items() if field.annotation is str}
        if not _is_much([arguments[name] for name in arguments.keys() - texts]):
            return await super().run(arguments, context, convert_result)
        read = partial(self.fn_metadata.validate_arguments, arguments)
        try:
            values = await anyio.to_thread.run_sync(read, limiter=_limiter())
        except ValidationError as error:
            raise ToolError(f"Error executing tool {self.name}: {error}") from error
        known: dict[str, Any] = dict(self.fn_metadata)
        metadata = _Read.model_construct(**known, values=values)
        own: dict[str, Any] = {**dict(self), "fn_metadata": metadata}
        with_values = Tool.model_construct(**own)
        return await with_values.run(arguments, context, convert_result)

    def _check_names(self, arguments: Collection[str]) -> None:
        """Refuse unknown arguments and the lack of others, all at once.

        Raises:
            ToolError: There are some; the message has what there is instead.
        """
        fields = self.fn_metadata.arg_model.model_fields.items()
        known = {str(field.validation_alias or name): field for name, field in fields}
        missing = [n for n, field in known.items() if field.is_required() and n not in arguments]
        if self.one_of and not any(name in arguments for name in self.one_of):
            *others, last = self.one_of
            missing.append(f"{', '.join(others)} or {last}")
        unknown = [name for name in arguments if name not in known]
        said = [f"missing: {', '.join(missing)}"] if missing else []
        for name in unknown:
            similar = closest(name, known)
            meant = f", did you mean {similar!r}?" if similar else ""
            said.append(f"unknown argument {name[:40]!r}{meant}")
        if said:
            raise ToolError(f"{self.name}: {'; '.join(said)}; known: {', '.join(known)}")


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
