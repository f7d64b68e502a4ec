"""Types of arguments."""

from collections.abc import Mapping
from typing import Annotated, cast

from pydantic import (
    BeforeValidator,
    Field,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

from sifaka.record.usage import Budget
from sifaka.validators import UNLISTED, VALIDATORS, ValidatorSpec

OptionalText = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A string that may be left out. Not `str | None`: the SDK parses strings for such a field as JSON,
and a text that is JSON must arrive as it was sent."""


def _or_of_a_plugin(spec: object, check: ValidatorFunctionWrapHandler) -> object:
    kind = cast("Mapping[object, object]", spec).get("type") if isinstance(spec, Mapping) else None
    if not isinstance(kind, str) or (kind in VALIDATORS and kind not in UNLISTED):
        return check(spec)
    return cast("object", spec)


AnyValidator = Annotated[ValidatorSpec, WrapValidator(_or_of_a_plugin)]
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
