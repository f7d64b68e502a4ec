"""Thoughts and the other records: never changed, copied whole, and kept as JSON."""

import copy
import pickle
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sifaka import Chain
from sifaka.record.results import COVERED, CriticFeedback, Issue, ValidationResult, covered_in
from sifaka.record.thought import Document, Thought, ThoughtReference, ToolCall
from sifaka.record.usage import Usage
from sifaka.testing import ScriptedModel

pytestmark = pytest.mark.anyio


def full_thought() -> Thought:
    return (
        Thought(prompt="write", text="a text", metadata={"tags": ["x", {"y": 1}]})
        .add_pre_generation_context([Document(text="d", metadata={"k": [1]})])
        .next_iteration()
        .add_validation_result("length", ValidationResult(passed=False, score=0.5))
        .add_critic_feedback(
            CriticFeedback(
                critic="c",
                verdict="revise",
                scores={"clarity": 0.3},
                issues=(Issue.at("a text", 2, 6, "vague", fix=""),),
                usage=Usage(model_calls=1, cost_usd=None),
            )
        )
        .add_tool_call(ToolCall(tool_name="search", arguments={"q": ["a", None]}, result="42"))
        .add_post_generation_context([Document(text="later")])
    )


def test_a_thought_cannot_be_changed_not_even_deep_inside() -> None:
    thought = full_thought()
    with pytest.raises(ValidationError):
        thought.text = "other"  # pyright: ignore[reportAttributeAccessIssue] - that is the point
    with pytest.raises(TypeError):
        thought.validation_results["x"] = ValidationResult(passed=True)  # pyright: ignore[reportIndexIssue]
    with pytest.raises(TypeError):
        thought.metadata["tags"][1]["y"] = 2  # pyright: ignore


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("add_tool_call", ("look_up",)),
        ("add_pre_generation_context", (["a text"],)),
        ("add_post_generation_context", ("text",)),
        ("add_validation_result", ("length", True)),
        ("add_critic_feedback", ("Shorter.",)),
        ("with_metadata", ({"at": object()},)),
        ("with_text", ("half a pair: \ud83d",)),
    ],
    ids=range(7),
)
def test_what_is_added_is_checked(method: str, given: tuple[Any, ...]) -> None:
    with pytest.raises(ValidationError):
        getattr(Thought(text="It ships."), method)(*given)


def test_a_copys_mappings_are_frozen_and_it_loads_from_its_own_file(tmp_path: Path) -> None:
    given: dict[str, Any] = {"places": [1, {"deep": [2]}]}
    thought = Thought(text="It ships.").model_copy(update={"metadata": given})
    given["places"].append(3)
    assert thought.metadata == {"places": (1, {"deep": (2,)})}
    thought.save_to_file(tmp_path / "thought.json")
    assert Thought.load_from_file(tmp_path / "thought.json") == thought
    assert Thought.from_dict(thought.to_dict()) == thought


def test_the_next_iteration_links_back_and_keeps_references_never_copies() -> None:
    first = Thought(prompt="p", text="one")
    third = first.next_iteration().next_iteration()
    assert third.parent_id == f"{first.run_id}.1"
    assert third.history == (
        ThoughtReference(thought_id=first.id, iteration=0),
        ThoughtReference(thought_id=f"{first.run_id}.1", iteration=1),
    )
    assert third.validation_results == {}
    assert third.text == "one"


@pytest.mark.slow
@given(
    prompt=st.text(),
    text=st.text(),
    metadata=st.dictionaries(
        st.text(),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
            lambda leaf: st.lists(leaf) | st.dictionaries(st.text(), leaf),
            max_leaves=10,
        ),
    ),
)
def test_any_thought_survives_json(prompt: str, text: str, metadata: dict[str, object]) -> None:
    thought = Thought(prompt=prompt, text=text, metadata=metadata, created_at=datetime.now(UTC))
    assert Thought.model_validate_json(thought.model_dump_json()) == thought


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        Thought.model_validate({"text": "t", "colour": "red"})


NESTED: dict[str, Any] = {"a": [1, {"b": ("c", None)}], "d": {"e": {"f": 1.5}}}


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


def test_what_a_critic_of_others_means_by_the_word_is_left_out() -> None:
    said = [{COVERED: {"d1": "at 9:30", "d2": 3}}, {COVERED: True}, {}, {COVERED: {"d3": "now"}}]
    feedback = [CriticFeedback(details=details) for details in said]
    assert covered_in(feedback) == {"d1": "at 9:30", "d3": "now"}
