from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError

from sifaka._internal.explain import explain
from sifaka.validators import VALIDATORS, ValidatorSpec


class Budget(BaseModel):
    max_calls: int | None = Field(default=None, ge=1)


class Arguments(BaseModel, extra="forbid"):
    text: Annotated[str, Field(min_length=1, max_length=10)]
    effort: Literal["quick", "standard"] = "standard"
    budget: Budget | None = None
    validators: list[ValidatorSpec] = []
    critics: list[str | dict[str, str]] = []
    limit: int = Field(default=1, le=50)


def explained(**arguments: object) -> str:
    with pytest.raises(ValidationError) as caught:
        Arguments.model_validate(arguments)
    return explain(caught.value, tags=VALIDATORS)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "text: is missing"),
        ({"text": ""}, "text: should be at least 1 characters long, not 0"),
        ({"text": "x" * 11}, "text: should be at most 10 characters long, not 11"),
        ({"text": None}, "text: should be a string, not null"),
        ({"text": {}}, "text: should be a string, not an object"),
        ({"text": "x", "effort": "hard"}, "effort: should be 'quick' or 'standard', not 'hard'"),
        ({"text": "x", "limit": 99}, "limit: should be at most 50, not 99"),
        ({"text": "x", "tone": 1}, "tone: is not a known option"),
        (
            {"text": "x", "budget": {"max_calls": 0}},
            "budget.max_calls: should be at least 1, not 0",
        ),
        ({"text": "x", "budget": 3}, "budget: should be an object, not 3"),
        ({"text": "x", "critics": [3]}, "critics[0]: should be a string or an object, not 3"),
        (
            {"text": "x", "validators": [{"type": "length", "max_words": -1}]},
            "validators[0].max_words: should be at least 0, not -1",
        ),
        (
            {"text": "x", "validators": [{"type": "format", "format": 1}]},
            "validators[0].format: should be 'json', 'markdown' or 'yaml', not 1",
        ),
        ({"effort": "hard", "limit": 99}, "text: is missing (and 2 more)"),
    ],
)
def test_the_first_error_is_one_line(arguments: dict[str, object], line: str) -> None:
    assert explained(**arguments) == line


def test_a_long_value_is_cut_and_line_breaks_are_gone() -> None:
    line = explained(text="x", effort="a\nb" * 100)
    assert "\n" not in line
    assert len(line) < 120


def test_the_root_comes_first() -> None:
    with pytest.raises(ValidationError) as caught:
        Budget.model_validate({"max_calls": "x"})
    assert explain(caught.value, "budget") == (
        "budget.max_calls: should be a whole number, not 'x'"
    )
    with pytest.raises(ValidationError) as caught:
        Budget.model_validate(3)
    assert explain(caught.value) == "should be an object, not 3"
