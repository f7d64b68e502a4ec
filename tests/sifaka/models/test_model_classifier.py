import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka.errors import ConfigurationError, ModelProviderError
from sifaka.models.classifier import ModelClassifier
from sifaka.record.thought import Thought
from sifaka.validators import ClassifierValidator

pytestmark = pytest.mark.anyio

TEXT = "Thank you for nothing."


class Scripted:
    """A model that gives the same answer each time and keeps what it was asked."""

    def __init__(self, **answer: object) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def model(self) -> FunctionModel:
        def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            self.asked.append(str(messages))
            return ModelResponse(parts=[ToolCallPart("answer", self.answer)])

        return FunctionModel(reply, model_name="scripted")


def tone(script: Scripted) -> ModelClassifier:
    return ModelClassifier(
        "tone", ("sincere", "ironic"), script.model(), "Irony says the opposite."
    )


async def test_the_models_label_and_quotes_are_taken() -> None:
    script = Scripted(label="ironic", confidence=0.7, quotes=["for nothing", "not in the text"])
    found = await tone(script).classify(TEXT)
    assert (found.label, found.confidence) == ("ironic", 0.7)
    assert [(issue.quote, issue.start) for issue in found.evidence] == [("for nothing", 10)]
    assert found.coverage.startswith("the model ")
    assert "scripted" in found.coverage
    (asked,) = script.asked
    assert "Irony says the opposite." in asked
    assert TEXT in asked


async def test_a_label_that_was_not_offered_is_no_answer() -> None:
    with pytest.raises(ModelProviderError) as caught:
        await tone(Scripted(label="angry", confidence=1, quotes=[])).classify(TEXT)
    assert caught.value.code == "malformed"


@pytest.mark.parametrize("labels", [(), ("one",), ("one", "one")])
async def test_labels_must_leave_a_choice(labels: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError):
        ModelClassifier("tone", labels, "openai:gpt-5")


async def test_it_validates() -> None:
    script = Scripted(label="ironic", confidence=0.7, quotes=["for nothing"])
    validator = ClassifierValidator(classifier=tone(script), allowed=["sincere"])
    result = await validator.validate(Thought(text=TEXT))
    assert (result.passed, [issue.quote for issue in result.issues]) == (False, ["for nothing"])
    assert len(script.asked) == 1
    assert validator.name == "classifier:tone"
