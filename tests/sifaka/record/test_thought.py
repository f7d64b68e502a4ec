from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sifaka.record.results import CriticFeedback, Issue, ValidationResult
from sifaka.record.thought import Document, Thought, ThoughtReference, ToolCall
from sifaka.record.usage import Usage


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


def test_every_add_returns_a_new_thought_and_leaves_the_old_one_alone() -> None:
    before = Thought(prompt="p", text="t")
    after = before.add_validation_result("length", ValidationResult(passed=True))
    assert before.validation_results == {}
    assert after.validation_results["length"].passed
    assert after.id == before.id


def test_a_thought_cannot_be_changed_not_even_deep_inside() -> None:
    thought = full_thought()
    with pytest.raises(ValidationError):
        thought.text = "other"  # pyright: ignore[reportAttributeAccessIssue] - that is the point
    with pytest.raises(TypeError):
        thought.validation_results["x"] = ValidationResult(passed=True)  # pyright: ignore[reportIndexIssue]
    with pytest.raises(TypeError):
        thought.metadata["tags"][1]["y"] = 2  # pyright: ignore


def test_a_mapping_given_to_a_thought_is_not_shared_with_it() -> None:
    results = {"a": ValidationResult(passed=True)}
    thought = Thought(text="t", validation_results=results)
    results["b"] = ValidationResult(passed=False)
    assert list(thought.validation_results) == ["a"]


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


def test_json_round_trip_is_lossless() -> None:
    thought = full_thought()
    assert Thought.model_validate_json(thought.model_dump_json()) == thought


def test_a_saved_file_loads_as_the_same_thought(tmp_path: Path) -> None:
    thought = full_thought()
    thought.save_to_file(tmp_path / "thought.json")
    assert Thought.load_from_file(tmp_path / "thought.json") == thought


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
