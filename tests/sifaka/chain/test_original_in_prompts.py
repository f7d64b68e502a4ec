"""Critics and judges see the text that a run started with, beside the version."""

from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka import Chain
from sifaka.critics import SectionedCritic, SelfRefineCritic
from sifaka.models.prompt import with_original
from sifaka.record.thought import Document, Thought
from sifaka.retrievers import MockRetriever
from sifaka.storage import MemoryStorage
from tests.sifaka.critics.scripted_judge import ScriptedJudge

pytestmark = pytest.mark.anyio

INPUT = "It costs 6 dollars at https://example.org/shop."


class Recorder:
    """A model that writes and judges, and keeps the questions by the fields of their form."""

    def __init__(self, *versions: str) -> None:
        self.opinions: list[str] = []
        self.comparisons: list[str] = []
        self.writings: list[str] = []
        self._versions = iter(versions)
        self.model = FunctionModel(self._answer)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        request = messages[0]
        assert isinstance(request, ModelRequest)
        question = "".join(str(getattr(part, "content", "")) for part in request.parts)
        if not info.output_tools:
            self.writings.append(question)
            return ModelResponse([TextPart(next(self._versions))])
        compares = "verdict" not in info.output_tools[0].parameters_json_schema["properties"]
        (self.comparisons if compares else self.opinions).append(question)
        answer = {"better": "neither"} if compares else {"verdict": "revise"}
        return ModelResponse([ToolCallPart("answer", answer)])


async def recorded(
    *versions: str, text: str = INPUT, task: str = "Shorten it.", **options: Any
) -> tuple[Recorder, Any]:
    recorder, store = Recorder(*versions), MemoryStorage()
    given: dict[str, Any] = {"critics": ["self_refine"], "fixes": "none", "patience": None}
    given |= {"facts": "off", "max_iterations": len(versions), **options}
    result = await Chain(model=recorder.model, store=store, **given).run(task, text=text)
    return recorder, result


async def test_critics_see_the_original_beside_each_version_but_not_twice() -> None:
    recorder, result = await recorded("It costs 6 dollars.", "6 dollars.", task="", policy="last")
    first, *later = recorder.opinions
    assert first.count(INPUT) == 1
    assert "<original" not in first
    for question in later:
        assert question.count(INPUT) == 1
        assert question.index("<original") < question.index(INPUT) < question.index("<text")
    assert all("original" not in thought.metadata for thought in result.run.thoughts)


async def test_a_judge_sees_the_original_where_neither_version_is_it() -> None:
    versions = ("It costs 6 dollars at example.org.", "It costs 6 dollars.")
    recorder, _ = await recorded(*versions, policy="judged", width=1)
    assert recorder.comparisons
    for question in recorder.comparisons:
        assert question.count(INPUT) == 1


async def test_a_text_that_a_model_wrote_from_a_task_is_no_original() -> None:
    recorder, _ = await recorded("A first draft.", "A second draft.", text="")
    assert recorder.opinions
    assert not any("<original" in question for question in recorder.opinions)


async def test_a_section_is_judged_beside_the_same_section_of_the_original() -> None:
    before = "\n".join(f"# Part {n}\n\n" + f"Word{n} stands here. " * 70 for n in range(3))
    original = Thought(text=before)
    for after, shown in (("is", 3), ("stands", 0), ("# Part 4\n\nstands", 0)):
        judge = ScriptedJudge({"verdict": "accept"})
        critic = SectionedCritic(SelfRefineCritic().bind(judge.binding), 3_000)
        version = Thought(text=before.replace("stands", after))
        await critic.critique(with_original(version, original))
        originals = [
            asked.question.partition("<original")[2].partition("</original")[0]
            for asked in judge.asked
            if "<original" in asked.question
        ]
        assert len(originals) == shown
        assert [n for n in range(3) for each in originals if f"Word{n} " in each] == [*range(shown)]


async def test_the_marks_of_what_lasts_are_the_same_for_all_versions_and_no_others() -> None:
    document = Document(id="d", title="Prices", text="It costs 6 dollars.")
    recorder, _ = await recorded("One.", "Two.", "Three.", retrievers=[MockRetriever([document])])

    def opened(question: str, label: str) -> str:
        return next(line for line in question.splitlines() if line.startswith(f"<{label} id="))

    for label in ("task", "document", "original", "aspects"):
        assert len({opened(question, label) for question in recorder.opinions}) == 1
    assert len({opened(question, "text") for question in recorder.opinions}) == 3
    assert len({opened(question, "documents") for question in recorder.writings}) == 1
    marks = [opened(question, "text") for question in (*recorder.writings, *recorder.opinions)]
    assert len(set(marks)) == len(marks)
