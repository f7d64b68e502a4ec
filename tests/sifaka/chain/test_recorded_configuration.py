"""What a configuration is on record: runs of earlier versions are resumed by its fingerprint."""

from typing import Any

import pytest
from pydantic_ai.models.test import TestModel

from sifaka import (
    Budget,
    Chain,
    LengthValidator,
    NCriticsCritic,
    SelfRAGCritic,
    SelfRefineCritic,
    ValidationResult,
)
from sifaka.record.thought import Thought
from sifaka.retrievers import MockRetriever
from sifaka.testing import ScriptedCritic, ScriptedModel


class Foreign:
    """A validator of other code."""

    name = "foreign"
    required = False

    def validate(self, thought: Thought) -> ValidationResult:
        return ValidationResult(passed=bool(thought.text))


RECORDED: dict[str, tuple[dict[str, Any], str]] = {
    "nothing given": (
        {},
        "c34b03668e9756b809a93f34f53cb460541439edf1f6957d8c15ecbf76e932c8",
    ),
    "the effort `thorough` of 0.1 with a model": (
        {"model": "test", "max_iterations": 5, "policy": "judged", "width": 3, "judge_repeats": 3},
        "2ba94b91217f33d4625b8f7c8a28c43501fdd38fc9a739628a81984e69a54d8b",
    ),
    "an effort with a model": (
        {"effort": "thorough", "model": "test"},
        "2c766e365dbfd314e4369f558192fa1a7bdd6f7f8ce328ed70b08f5ef172c1a6",
    ),
    "specs": (
        {
            "validators": [
                {"type": "length", "max_words": 3, "required": False},
                {"type": "format", "format": "json", "schema": {"type": "object"}},
                {"type": "evidence", "search": False},
            ],
            "critics": [
                {"type": "n_critics", "models": ["a:b", "c:d"]},
                {"type": "self_rag", "model": "a:b"},
                {"type": "prompt", "rubric": "x", "schema": {"type": "object"}},
                {"type": "constitutional", "draw": 2},
                "lint",
                "evidence",
            ],
        },
        "eec377d8f75529fc77ea7a3501d0f39aac973e19fed39ded3e7c47181140a35e",
    ),
    "objects": (
        {
            "model": ScriptedModel(lines=[]),
            "judge_model": TestModel(),
            "validators": [Foreign(), LengthValidator(max_words=3) & Foreign()],
            "critics": [
                NCriticsCritic(models=("a:b", TestModel())),
                SelfRefineCritic(model=TestModel()),
                SelfRAGCritic(retriever=MockRetriever()),
                ScriptedCritic(objects_to=bool),
            ],
            "retrievers": [MockRetriever()],
        },
        "676eef62db5bf0fd7bc8dfe1eeefdfcd9c955a82b0efe8325009539f3fac2bd1",
    ),
    "limits": (
        {
            "model": "test",
            "policy": "best_of_n",
            "fallback_models": ["host", "caller"],
            "budget": Budget(max_calls=3),
            "patience": None,
            "section_chars": None,
            "max_edit_ratio": 0.5,
            "protect": False,
        },
        "2c9a1f17827fd52b6a6c36eb774c50c3271491ee2ac184230f30823974051881",
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_configuration_has_the_fingerprint_that_is_on_record(name: str) -> None:
    options, fingerprint = RECORDED[name]
    assert Chain(**options).config.fingerprint == fingerprint


def test_suggested_fixes_are_a_configuration_of_their_own() -> None:
    usual = Chain(model="editor").config
    suggested = Chain(model="editor", fixes="suggested").config
    assert usual.fingerprint == Chain(model="editor", fixes="safe").config.fingerprint
    assert suggested.fingerprint != usual.fingerprint
