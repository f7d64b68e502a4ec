"""Types of arguments."""

import json
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from sifaka._internal.naming import did_you_mean
from sifaka.record.usage import Budget
from sifaka.validators import UNLISTED, VALIDATORS, Validator, ValidatorSpec, adapter_of
from sifaka_mcp.schemas.texts import Return

OptionalText = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A string that may be left out. Not `str | None`: the SDK parses strings for such a field as JSON,
and a text that is JSON must arrive as it was sent."""


class _Built:
    """Validates a validator by a schema that is built once for all tools, and lists a flat one."""

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_validator)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: object) -> JsonSchemaValue:
        return listed_validator()


def _validator(spec: object) -> object:
    if not isinstance(spec, Mapping):
        return adapter_of(ValidatorSpec).validate_python(spec)
    given = _meant(cast("Mapping[object, object]", spec), VALIDATORS)
    kind, schema = given.get("type"), given.get("schema")
    if kind == "format" and isinstance(schema, str):
        given["schema"] = _parsed(schema)
    if not isinstance(kind, str) or (kind in VALIDATORS and kind not in UNLISTED):
        return adapter_of(ValidatorSpec).validate_python(given)
    return given


def _meant(spec: Mapping[object, object], kinds: Mapping[str, type[Any]]) -> dict[object, object]:
    """The options that a caller means: hosts of strict mode fill in all that are listed.

    Null is an option left out, and so is what is empty of those that the type does not take.
    """
    known = kinds.get(str(spec.get("type")))
    takes = () if known is None else options_of(known)
    return {
        name: value
        for name, value in spec.items()
        if value is not None and value != [] and (value or not takes or name in takes)
    }


def knows(*names: str) -> BeforeValidator:
    """Refuses an object with an option of another name, and says which names there are."""

    def checked(value: object) -> object:
        if isinstance(value, Mapping):
            refuse_unknown(cast("Mapping[object, object]", value), names)
        return cast("object", value)

    return BeforeValidator(checked)


def refuse_unknown(given: Iterable[object], names: Collection[str]) -> None:
    """Raise ValueError for an option that is not of these names."""
    for name in given:
        if name not in names:
            told = did_you_mean(str(name), names)
            raise ValueError(f"unknown option {str(name)[:40]!r}; {told}")


def options_of(component: type[Any]) -> list[str]:
    """The options of a component's spec, as they are named in it."""
    fields: Mapping[str, FieldInfo] = component.model_fields
    return [field.alias or name for name, field in fields.items()]


def _parsed(schema: str) -> object:
    try:
        return json.loads(schema)
    except ValueError as error:
        raise ValueError(f"schema is a string that is no JSON: {error}") from None


_RARE = frozenset({"guardrails"})
"""Types that need a package which few have installed; the catalogue tells of them."""
_RARE_OPTIONS = frozenset(
    {"type", "case_sensitive", "whole_word", "must_pass", "numbers", "urls", "quotes", "code"}
)
"""Options that are too rarely given to be listed, and the type, which all have."""


@cache
def listed_validator() -> JsonSchemaValue:
    """One object with the options of all listed validators.

    Dialects of hosts know no unions of objects, and the free objects among the options they close:
    so a JSON schema may be given as JSON in a string, and validators of Guardrails AI by name.
    """
    options: dict[str, Any] = {"type": {"type": "string", "enum": []}}
    definitions = adapter_of(ValidatorSpec).json_schema()["$defs"]
    for kind, validator in VALIDATORS.items():
        if kind not in UNLISTED | _RARE:
            options["type"]["enum"].append(kind)
            options.update(
                {
                    name: _inlined(option, definitions)
                    for name, option in definitions[validator.__name__]["properties"].items()
                    if name not in _RARE_OPTIONS
                }
            )
    options["schema"] = {"type": "string", "description": "JSON schema"}
    options["name"]["type"] = "string"
    return {"type": "object", "required": ["type"], "properties": options}


def _inlined(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    known = cast("dict[str, Any]", node)
    if "$ref" in known:
        return definitions[known["$ref"].removeprefix("#/$defs/")]
    return {key: _inlined(value, definitions) for key, value in known.items() if key != "default"}


AnyValidator = Annotated[Validator | Mapping[str, object], _Built()]
"""A validator; one that is not built in is left to `parse_validators`, which knows what is
allowed."""

ValidatorList = Annotated[
    list[AnyValidator],
    Field(description="rules: type and options"),
]


class _ListedCritic:
    """Lists a critic as an object, in place of which its name is taken."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: object) -> JsonSchemaValue:
        from sifaka.critics import CRITICS

        text: JsonSchemaValue = {"type": "string"}
        kinds = [kind for kind in CRITICS if kind not in UNLISTED]
        return {
            "type": "object",
            "required": ["type"],
            "properties": {
                "type": {"type": "string", "enum": kinds},
                "rubric": text,
                "principles": {"type": "array", "items": text},
                "roles": {"type": "array", "items": text},
                "n": {"type": "integer"},
            },
        }


def _critic_as_meant(spec: object) -> object:
    from sifaka.critics import CRITICS

    if not isinstance(spec, Mapping):
        return spec
    given = _meant(cast("Mapping[object, object]", spec), CRITICS)
    critic = CRITICS.get(str(given.get("type")))
    if critic is not None:
        refuse_unknown(given, options_of(critic))
    return given


CriticList = Annotated[
    list[Annotated[str | dict[str, object], BeforeValidator(_critic_as_meant), _ListedCritic()]]
    | None,
    Field(description="judges"),
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
    Field(description="of model calls"),
    knows(*Budget.model_fields),
]
"""A budget; its schema has the names and leaves the bounds to the error, which is precise."""

HowReturned = Annotated[
    Return,
    Field(
        validation_alias="return",
        description="of the text",
    ),
]
"""How the answer gives the text, named `return` on the wire."""

RunId = Annotated[str, Field(description="the run")]

WaitSeconds = Annotated[float, Field(ge=0, le=3600, description="then `running`")]


class FindReplace(BaseModel):  # noqa: D101 - a docstring would be listed
    model_config = ConfigDict(extra="forbid")

    find: str
    replace: str


EditList = Annotated[
    list[Annotated[FindReplace, knows("find", "replace")]] | None,
    Field(description="or changes; each `find` occurs once"),
]
