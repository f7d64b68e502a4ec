"""Types of arguments."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from sifaka.record.usage import Budget
from sifaka.validators import UNLISTED, VALIDATORS, Validator, ValidatorSpec, adapter_of
from sifaka_mcp.schemas.texts import Return

OptionalText = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A string that may be left out. Not `str | None`: the SDK parses strings for such a field as JSON,
and a text that is JSON must arrive as it was sent."""


class _Built:
    """Validates and describes a validator by a schema that is built once for all tools."""

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_validator)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: object) -> JsonSchemaValue:
        return _listed()


def _validator(spec: object) -> object:
    kind = cast("Mapping[object, object]", spec).get("type") if isinstance(spec, Mapping) else None
    if not isinstance(kind, str) or (kind in VALIDATORS and kind not in UNLISTED):
        return adapter_of(ValidatorSpec).validate_python(spec)
    return cast("object", spec)


@cache
def _listed() -> JsonSchemaValue:
    schema = adapter_of(ValidatorSpec).json_schema()
    definitions = schema.pop("$defs")

    def inlined(node: Any) -> Any:
        if isinstance(node, list):
            return [inlined(item) for item in cast("list[Any]", node)]
        if not isinstance(node, dict):
            return node
        known = cast("dict[str, Any]", node)
        if "$ref" in known:
            return inlined(definitions[known["$ref"].removeprefix("#/$defs/")])
        return {key: inlined(value) for key, value in known.items()}

    return inlined(schema)


AnyValidator = Annotated[Validator | Mapping[str, object], _Built()]
"""A validator; one that is not built in is left to `parse_validators`, which knows what is
allowed."""

CriticList = Annotated[
    list[str | dict[str, object]] | None,
    Field(
        description='names or {"type", options}: lint, self_refine, reflexion, constitutional '
        "{principles[], file}, self_rag, self_consistency {n}, meta_rewarding {n}, n_critics "
        "{roles[]}, prompt {rubric}"
    ),
]
"""Critics, parsed and checked by the chain."""

BudgetLimits = Annotated[
    Budget | None,
    WithJsonSchema(
        {
            "type": "object",
            "properties": {
                "max_calls": {"type": "integer"},
                "max_tokens": {"type": "integer"},
                "max_seconds": {"type": "number"},
                "max_cost_usd": {"type": "number"},
            },
        }
    ),
]
"""A budget; its schema has the names and leaves the bounds to the error, which is precise."""

HowReturned = Annotated[
    Return,
    Field(
        validation_alias="return",
        description="how to get the text; auto: `unchanged`, or a `diff` where that is shorter",
    ),
]
"""How the answer gives the text, named `return` on the wire."""

RunId = Annotated[str, Field(description="of an earlier answer")]

WaitSeconds = Annotated[float, Field(ge=0, le=3600, description="then answers `running`")]


class EditIn(BaseModel):
    """Words that occur once in the version to revise, and the words in their place."""

    model_config = ConfigDict(extra="forbid")

    find: str
    replace: str


EditList = Annotated[
    list[EditIn] | None,
    Field(description="or changes of that version; each `find` occurs in it exactly once"),
]
