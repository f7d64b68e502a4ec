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
    "nothing given": ({}, "4290d0f0853e07760efe85492f4d456cf090ef0d1712395fb37861f1135643c7"),
    "the effort `thorough` of 0.1 with a model": (
        {"model": "test", "max_iterations": 5, "policy": "judged", "width": 3},
        "8a9576d7a15b82454ea7f4a5160f5686e9b3ef2a4ab255685cc0926d7f854c00",
    ),
    "an effort with a model": (
        {"effort": "thorough", "model": "test"},
        "f2d2dbf1bb148cb7873b0c6ed64a9621ac56ad8daf057de9e4b2875facf8b8c6",
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
                {"type": "prompt", "rubric": "x"},
                {"type": "constitutional", "draw": 2},
                "lint",
                "evidence",
            ],
        },
        "48fade08e5e97e7fa52caccc3f5f87897bbbd16a29b19afd7f715e8c0d3a42d9",
    ),
    "objects": (
        {
            "model": ScriptedModel(lines=[]),
            "judge_model": TestModel(),
            "validators": [Foreign(), LengthValidator(max_words=3)],
            "critics": [
                NCriticsCritic(models=("a:b", TestModel())),
                SelfRefineCritic(model=TestModel()),
                SelfRAGCritic(retriever=MockRetriever()),
                ScriptedCritic(objects_to=bool),
            ],
            "retrievers": [MockRetriever()],
        },
        "a8f9aa3c9a5d3ac9531bf20b7853b3ffbdb95e9d1449edd4904cdbc04a0a202b",
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
        "883365585cef5be805a1d57834fc8e71ef061a0c1a9e43227b51844be9212086",
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_configuration_has_the_fingerprint_that_is_on_record(name: str) -> None:
    options, fingerprint = RECORDED[name]
    assert Chain(**options).config.fingerprint == fingerprint


def test_suggested_fixes_are_a_configuration_of_their_own() -> None:
    usual = Chain(model="editor").config
    safe = Chain(model="editor", fixes="safe").config
    suggested = Chain(model="editor", fixes="suggested").config
    assert len({usual.fingerprint, safe.fingerprint, suggested.fingerprint}) == 3
