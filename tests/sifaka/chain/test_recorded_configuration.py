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
        "77a190d9a0dfff8b2e1439ff622de4274d7f12e159e7d48e33a6e8691c010885",
    ),
    "the effort `thorough` of 0.1 with a model": (
        {"model": "test", "max_iterations": 5, "policy": "judged", "width": 3, "judge_repeats": 3},
        "77131d02bdc0182b6cc8cfeec77f4db0ed411ce098a5604b70f7fecaef8a7008",
    ),
    "an effort with a model": (
        {"effort": "thorough", "model": "test"},
        "a3f8feebfa5e93e54820a7193ef225fadb7bbfa9c1018d44e4622afd1176ad11",
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
        "3753b428a7dcf0a57083a8909fb23242dedc8e61b81fcd9054ba8518f5156004",
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
        "a642e80ca0c285fa5478180b6dd604ab429fb2bfdcbd52c4f7797f23f35723bf",
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
        "0790523d12145cf20ef3f92f8f0c9855d13048193bf5c07f801535788c8a5b73",
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
