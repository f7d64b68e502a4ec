"""Types of arguments."""

import json
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema
from pydantic.fields import FieldInfo

from sifaka._internal.naming import did_you_mean
from sifaka.record.diff import Edit
from sifaka.record.usage import Budget
from sifaka.validators import UNLISTED, VALIDATORS, Validator, ValidatorSpec, adapter_of
from sifaka_mcp.schemas.runs import Return


def _parse_validator(spec: object) -> object:
    if not isinstance(spec, Mapping):
        return adapter_of(ValidatorSpec).validate_python(spec)
    options = _prune(cast("Mapping[object, object]", spec), VALIDATORS)
    kind, schema = options.get("type"), options.get("schema")
    if kind == "format" and isinstance(schema, str):
        try:
            options["schema"] = json.loads(schema)
        except ValueError as error:
            raise ValueError(f"schema is a string that is no JSON: {error}") from None
    if not isinstance(kind, str) or (kind in VALIDATORS and kind not in UNLISTED):
        return adapter_of(ValidatorSpec).validate_python(options)
    return options


def _prune(spec: Mapping[object, object], kinds: Mapping[str, type[Any]]) -> dict[object, object]:
    """The options that a caller means: hosts of strict mode fill in all that are listed.

    What is empty of those that the type does not take is an option left out.
    """
    component = kinds.get(str(spec.get("type")))
    takes = () if component is None else options_of(component)
    return {
        name: value
        for name, value in spec.items()
        if value != [] and (value or not takes or name in takes)
    }


def knows(*names: str) -> BeforeValidator:
    """Refuses an object with an option of another name, and says which names there are."""
    return BeforeValidator(partial(_refuse_unknown, names))


def _refuse_unknown(names: Collection[str], value: object) -> object:
    """The value; raises ValueError for an option of it that is not of these names."""
    for name in cast("Iterable[object]", value) if isinstance(value, Mapping) else ():
        if name not in names:
            advice = did_you_mean(str(name), names)
            raise ValueError(f"unknown option {str(name)[:40]!r}; {advice}")
    return cast("object", value)


def options_of(component: type[Any]) -> list[str]:
    """The options of a component's spec, as they are named in it."""
    fields: Mapping[str, FieldInfo] = component.model_fields
    return [field.alias or name for name, field in fields.items()]


AnyValidator = Annotated[Validator | Mapping[str, object], PlainValidator(_parse_validator)]
"""A validator; one that is not built in is left to `parse_validators`, which knows what is
allowed."""

ValidatorList = Annotated[list[AnyValidator], Field(description="rules that the text must meet")]


def _parse_critic(spec: object) -> object:
    from sifaka.critics import CRITICS

    if not isinstance(spec, Mapping):
        return spec
    options = _prune(cast("Mapping[object, object]", spec), CRITICS)
    critic = CRITICS.get(str(options.get("type")))
    return options if critic is None else _refuse_unknown(options_of(critic), options)


CriticList = Annotated[
    list[Annotated[str | dict[str, object], BeforeValidator(_parse_critic)]] | None,
    Field(description="who judges it; the default fits the model"),
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
    Field(description="what model calls may take in all"),
    knows(*Budget.model_fields),
]
"""A budget; its schema has the names and leaves the bounds to the error, which is precise."""

HowReturned = Annotated[
    Return, Field(validation_alias="return", description="how the answer gives the text")
]
"""How the answer gives the text, named `return` on the wire."""

NameList = Annotated[list[str] | None, Field(max_length=50)]

RunId = Annotated[str, Field(description="the run, from its answer")]

WaitSeconds = Annotated[
    float, Field(ge=0, le=3600, description="seconds until it answers `running`")
]


EditList = Annotated[
    list[
        Annotated[
            Edit,
            knows("find", "replace"),
            WithJsonSchema(
                {
                    "type": "object",
                    "properties": {"find": {"type": "string"}, "replace": {"type": "string"}},
                    "required": ["find", "replace"],
                }
            ),
        ]
    ]
    | None,
    Field(description="or changes to it; each `find` occurs once"),
]
