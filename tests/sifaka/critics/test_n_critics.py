"""N-Critics: different critics, merged."""

from types import MappingProxyType

import pytest

from sifaka.calls.component import Binding
from sifaka.critics import NCriticsCritic
from sifaka.critics.n_critics import ROLES
from sifaka.errors import ModelProviderError
from sifaka.models.prompt import ORIGINAL, contents
from sifaka.record.results import Findings, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.differences import Difference
from tests.sifaka.critics.scripted_judge import Asked, ScriptedJudge, in_turn

pytestmark = pytest.mark.anyio

ACCEPTS = {"verdict": "accept"}
TEXT = "The tower is 300 metres high. It was built in 1889."
HEIGHT = {"quote": "300 metres", "message": "Wrong height.", "category": "facts"}
YEAR = {"quote": "in 1889", "message": "Begin with the year.", "category": "order"}


async def test_issues_are_merged_with_their_support_and_all_are_kept() -> None:
    judge = ScriptedJudge(
        in_turn(
            {"verdict": "revise", "issues": [HEIGHT], "scores": {"right": 0.2}},
            {"verdict": "revise", "issues": [HEIGHT, YEAR], "scores": {"right": 0.4}},
            {"verdict": "revise", "suggestions": ["Add a picture."]},
            {"verdict": "accept"},
        )
    )
    feedback = await NCriticsCritic().bind(judge.binding).critique(Thought(text=TEXT))
    assert feedback.verdict == "revise"
    assert [(i.message, i.support) for i in feedback.issues] == [
        ("Wrong height.", 2),
        ("Begin with the year.", 1),
    ]
    assert dict(feedback.scores) == {"right": 0.3}
    assert feedback.suggestions == ("Add a picture.",)
    assert feedback.model_dump()["details"]["votes"] == {"accept": 1, "revise": 3}


async def test_every_member_has_a_role_of_its_own() -> None:
    judge = ScriptedJudge({"verdict": "accept"})
    await NCriticsCritic().bind(judge.binding).critique(Thought(text=TEXT))
    for asked, role in zip(judge.asked, ROLES, strict=True):
        assert [r for r in ROLES if r in asked.question] == [role]


async def test_every_role_is_shown_the_original_and_asked_about_what_was_lost() -> None:
    covers = {"verdict": "accept", "covered": [{"id": "d1", "quote": "leave the year out"}]}
    judge = ScriptedJudge(lambda asked: covers if "A sceptic" in asked.question else ACCEPTS)
    lost = Difference(id="d1", kind="number", before="1889")
    length = ValidationResult(passed=True, validator="length", message="6 words")
    thought = Thought(
        prompt="Shorten it, leave the year out.",
        text="The tower is 300 metres high.",
        metadata=MappingProxyType({ORIGINAL: TEXT}),
        findings=Findings(differences=(lost,)),
    ).add_validation_result("length", length)
    feedback = await NCriticsCritic().bind(judge.binding).critique(thought)
    for asked in judge.asked:
        shown = contents(asked.question)[0]
        assert shown["task"] == [thought.prompt]
        assert (shown["original"], shown["text"]) == ([TEXT], [thought.text])
        assert "length: met" in shown["rules"][0]
        assert shown["differences"][0].startswith("d1 (number): '1889'")
        assert "`original`" in asked.instructions
        assert "`covered`" in asked.question
    assert feedback.model_dump()["details"]["covered"] == {"d1": "leave the year out"}


async def test_members_have_models_and_roles_of_their_own_in_turn() -> None:
    one, other = ScriptedJudge({"verdict": "accept"}), ScriptedJudge({"verdict": "revise"})
    critic = NCriticsCritic(models=(one.model, other.model)).bind(Binding())
    feedback = await critic.critique(Thought(text=TEXT))
    assert (one.calls, other.calls) == (1, 1)
    assert feedback.model_dump()["details"]["votes"] == {"accept": 1, "revise": 1}

    one, other = ScriptedJudge({"verdict": "accept"}), ScriptedJudge({"verdict": "accept"})
    roles = ("a sailor", "a cook", "a pilot")
    critic = NCriticsCritic(models=(one.model, other.model), roles=roles).bind(Binding())
    await critic.critique(Thought(text=TEXT))
    assert [role for a in one.asked for role in roles if role in a.question] == [roles[0], roles[2]]
    assert [role for a in other.asked for role in roles if role in a.question] == [roles[1]]


async def test_a_member_that_fails_has_no_vote_and_is_on_record() -> None:
    def script(asked: Asked) -> dict[str, str] | Exception:
        if "a cook" in asked.question:
            return ModelProviderError("refused", error_code="rejected")
        return {"verdict": "revise"}

    critic = NCriticsCritic(roles=("a sailor", "a cook")).bind(ScriptedJudge(script).binding)
    feedback = await critic.critique(Thought(text=TEXT))
    assert feedback.verdict == "revise"
    assert feedback.degraded == ("member 1: refused",)
    members = feedback.model_dump()["details"]["members"]
    assert [member["verdict"] for member in members] == ["revise", "abstained"]
