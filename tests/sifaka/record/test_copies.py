"""Records can be copied, pickled and hashed, and keep nothing that JSON would change."""

import copy
import pickle
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from sifaka import Chain, Document, Thought
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.thought import ToolCall
from sifaka.testing import ScriptedModel

pytestmark = pytest.mark.anyio

NESTED: dict[str, Any] = {"a": [1, {"b": ("c", None)}], "d": {"e": {"f": 1.5}}}

CALL = ToolCall(tool_name="t", arguments=NESTED)
RULES = [{"type": "length", "max_words": 2}]


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - it is our own


def read_again(value: Any) -> Any:
    kind = cast("Any", type(value))
    return kind.model_validate_json(value.model_dump_json())


async def made() -> list[Any]:
    chain = Chain(
        model=ScriptedModel(lines=["Hello."]),
        critics=["lint"],
        validators=[{"type": "length", "max_words": 2}],
    )
    result = await chain.run("Shorten it.", text="Helo there, are you well?")
    return [
        result,
        result.run,
        result.thought,
        result.usage,
        *result.validation_results,
        *result.left,
        Thought(
            text="A.", metadata=NESTED, tool_calls=(ToolCall(tool_name="t", arguments=NESTED),)
        ),
        CriticFeedback(critic="c", details=NESTED, scores={"x": 0.5}),
    ]


async def test_copies_of_every_kind_are_equal_and_hash_the_same() -> None:
    value: Any
    for value in await made():
        other: Any
        for other in (
            copy.copy(value),
            copy.deepcopy(value),
            pickled(value),
            value.model_copy(deep=True),
            read_again(value),
        ):
            assert other == value
            assert hash(other) == hash(value)
            assert other.model_dump_json() == value.model_dump_json()


async def test_a_pickled_record_is_read_only_like_the_first() -> None:
    thought = pickled(Thought(text="A.", metadata=NESTED))
    with pytest.raises(TypeError):
        thought.metadata["a"] = 1
    with pytest.raises(TypeError):
        thought.metadata["d"]["e"]["f"] = 1


async def test_records_can_be_members_of_a_set() -> None:
    first, second = Thought(text="A.", metadata=NESTED), Thought(text="B.")
    members: list[Any] = [first, second, copy.deepcopy(first)]
    assert len(set(members)) == 2


def test_a_copy_with_changes_leaves_the_first_as_it_is() -> None:
    thought = Thought(text="A.")
    assert thought.model_copy(update={"text": "B."}, deep=True).text == "B."
    assert thought.text == "A."


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), {1, 2}, frozenset({1}), b"a", [{"a": {1}}],
     {"a": [float("nan")]}, 1 + 2j, datetime(2026, 1, 2), Decimal("1.1"), Path("x")],
    ids=repr,
)  # fmt: skip
def test_what_json_would_change_is_refused(value: object) -> None:
    for make in (
        lambda: Thought(metadata={"x": value}),
        lambda: Document(text="t", metadata={"x": value}),
        lambda: CriticFeedback(details={"x": value}),
        lambda: ValidationResult(passed=True, details={"x": value}),
    ):
        with pytest.raises(ValueError, match="cannot be kept as JSON"):
            make()
