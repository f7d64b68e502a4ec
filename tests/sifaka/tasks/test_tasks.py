"""The tasks from Python. What tools and commands add to them is tested there."""

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import (
    Budget,
    ConfigurationError,
    CriticFeedback,
    Document,
    LengthValidator,
    MemoryStorage,
    critique,
    improve,
    validate,
    verify,
)
from sifaka.evidence.sources.collection import Adapters
from sifaka.evidence.sources.in_process import InProcessAdapter
from sifaka.record.claims import CheckOptions
from sifaka.record.research_question import Inquiry
from sifaka.tasks import look_up, research
from sifaka.testing import ScriptedCritic

pytestmark = pytest.mark.anyio

TOWER = Document(text="The tower is 300 metres tall. It was built in 1888.", title="Towers")


async def test_validate_gives_each_verdict_and_whether_the_text_passes() -> None:
    advice = {"type": "content", "required": ["30 days"]}
    report = await validate("One two three.", [LengthValidator(max_words=2), advice])
    assert [result.validator for result in report.results] == ["length", "content"]
    assert not report.passed
    assert [issue.category for issue in report.issues] == ["length", "content"]
    assert repr(report) == "ValidationReport(results=<2>)"
    assert (await validate("One two.", [LengthValidator(max_words=2)])).passed


async def test_validate_compares_with_the_original() -> None:
    rule = {"type": "preserve", "numbers": True}
    assert (await validate("It costs 5.", [rule], original="It costs 5.")).passed
    assert not (await validate("It costs 6.", [rule], original="It costs 5.")).passed


async def test_validate_needs_a_rule_and_explains_a_wrong_one() -> None:
    with pytest.raises(ConfigurationError, match="there are no validators"):
        await validate("One.", [])
    with pytest.raises(ConfigurationError, match="did you mean 'length'"):
        await validate("One.", [{"type": "lenght"}])


async def test_critique_gives_the_majority_and_the_issues_of_all_critics() -> None:
    no = ScriptedCritic(objects_to=lambda _: True, name="no")
    review = await critique("It is so.", [no, no, "lint"])
    assert review.verdict == "revise"
    assert review.issues[0].support == 2
    assert [feedback.critic for feedback in review.feedback] == ["no", "no#2", "lint"]


async def test_critique_compares_with_the_original_and_shows_critics_all_of_it() -> None:
    seen: list[str] = []

    def review(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(str(getattr(messages[0].parts[0], "content", "")))
        said = {"verdict": "accept", "covered": [{"id": "d1", "quote": "from 4 to 6 euros"}]}
        return ModelResponse([ToolCallPart(info.output_tools[0].name, said)])

    found = await critique(
        "It costs 6 euros since May 2024.",
        prompt="Update the date.",
        original="It costs 4 euros since May 2023.",
        documents=[Document(text="The price rose from 4 to 6 euros.", title="Prices")],
        model=FunctionModel(review),
    )
    assert {(each.before, each.after, each.by) for each in found.differences} == {
        ("4 euros", "6 euros", "source"),
        ("since May 2023", "since May 2024", "task"),
    }
    assert "It costs 4 euros" in seen[0]
    assert "The price rose" in seen[0]
    alone = await critique("It costs 6 euros.", original="It costs 4 euros.")
    assert [(each.before, each.status) for each in alone.differences] == [("4 euros", "open")]
    assert (await critique("It costs 6 euros.")).differences == ()


async def test_critique_without_a_model_gives_a_rubric_for_the_caller() -> None:
    review = await critique("It is so.", prompt="Say so.")
    assert review.rubric is not None
    assert review.rubric[0] == "It does what was asked: 'Say so.'"


class Silent:
    name = "silent"

    async def critique(self, thought: object) -> CriticFeedback:
        return CriticFeedback(status="abstained", reason="no opinion")


async def test_critique_has_no_verdict_when_no_critic_votes() -> None:
    assert (await critique("It is so.", [Silent()])).verdict is None
    with pytest.raises(ConfigurationError, match="the text is empty"):
        await critique("  ")


async def test_verify_checks_claims_against_the_sources_given() -> None:
    report = await verify("The tower is 300 metres tall.", sources=[TOWER, "It was built in 1888."])
    (verdict,) = report.verdicts
    assert verdict.verdict == "supported"  # in the same words
    assert verdict.evidence[0].title == "Towers"


async def test_verify_searches_adapters_where_no_source_is_given() -> None:
    adapters = Adapters([InProcessAdapter([TOWER], name="town")])
    report = await verify(claims=["The tower is 300 metres tall."], adapters=adapters)
    assert {each.adapter for each in report.verdicts[0].evidence} == {"town"}
    both = CheckOptions(search=True)
    text = "The tower is 300 metres tall."
    report = await verify(text, sources=["It rains."], adapters=adapters, options=both)
    assert "town" in {each.adapter for each in report.verdicts[0].evidence}
    with pytest.raises(ConfigurationError, match="nothing to search"):
        await verify("The tower is 300 metres tall.")


async def test_research_from_python_has_the_validators_of_every_report() -> None:
    adapters = Adapters([InProcessAdapter([TOWER], name="town")])
    rule = LengthValidator(max_words=500)
    result = await research("How tall is the tower?", validators=[rule], adapters=adapters)
    assert result.status == "needs_revision"
    assert [each.validator for each in result.validation_results] == [
        "report",
        "length",
        "evidence",
    ]
    assert [each.required for each in result.validation_results] == [True, True, False]


async def test_research_refuses_what_cannot_be_researched_before_a_run_is_made() -> None:
    with pytest.raises(ConfigurationError, match="the question is empty"):
        await research(" ")
    with pytest.raises(ConfigurationError, match="the editor cannot research"):
        await research("How tall?", model="editor")
    broke = Inquiry(section_budget=Budget(max_calls=0))
    with pytest.raises(ConfigurationError, match="max_calls=0 leaves no call"):
        await research("How tall?", model="openai:m", inquiry=broke)


async def test_history_pages_versions_lists_runs_and_finds_texts() -> None:
    store = MemoryStorage()
    result = await improve("This is is it.", critics=["lint"], store=store)
    first = await look_up(store, run_id=result.run_id, limit=1)
    assert first.run is not None
    assert first.thoughts == result.run.thoughts[:1]
    second = await look_up(store, run_id=result.run_id, cursor=first.next_cursor or "")
    assert (second.thoughts, second.next_cursor) == (result.run.thoughts[1:], None)
    recent = await look_up(store)
    assert [run.run_id for run in recent.runs or ()] == [result.run_id]
    found = await look_up(store, query="this")
    assert {hit.run_id for hit in found.hits or ()} == {result.run_id}
    assert found.search == "bm25, semantic: disabled (no embedding model configured)"
    with pytest.raises(ConfigurationError, match="exclude each other"):
        await look_up(store, run_id=result.run_id, query="this")
