"""Types of arguments."""

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from sifaka.budget import Budget

OptionalText = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
"""A string that may be left out. Not `str | None`: the SDK parses strings for such a field as JSON,
and a text that is JSON must arrive as it was sent."""

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
