"""A classifier that asks a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from pydantic import BaseModel, Field, create_model

from sifaka.classifiers.protocol import Classification
from sifaka.errors import ConfigurationError
from sifaka.models.prompt import Prompt, frame
from sifaka.record.results import Issue
from sifaka.text.anchoring import anchor

PROMPT = Prompt(
    purpose="Puts one of the given labels on a text.",
    task="You classify a text by another author. Choose the one label that fits it best.",
    rules=(
        "Copy the words that decide it exactly from the text. Quote nothing when no single words "
        "decide it.",
        "Say how sure you are, from 0 (a guess) to 1 (certain).",
    ),
)


class _Answer(Protocol):
    label: str
    confidence: float
    quotes: list[str]


@dataclass(frozen=True)
class ModelClassifier:
    """Puts one of the given labels on a text by one question to a model.

    Its confidence is what the model says of itself, which is seldom calibrated.

    Raises:
        ConfigurationError: There are fewer than two labels, or two are the same.
    """

    name: str
    labels: tuple[str, ...]
    model: Any
    """A `provider:name`, or a PydanticAI model."""
    instructions: str = ""
    """The meaning of the labels."""

    def __post_init__(self) -> None:
        if len(set(self.labels)) < max(2, len(self.labels)):
            raise ConfigurationError(
                f"classifier {self.name!r} has the labels {list(self.labels)}",
                "give two or more different ones",
            )

    async def classify(self, text: str) -> Classification:
        """The model's label, with what it quotes as evidence where the text has it.

        Raises:
            ModelProviderError: The provider failed, or gave no answer of the form asked for.
            BudgetExceeded: The call would break the run's budget.
        """
        from sifaka.models.provider import provider_model
        from sifaka.models.structured import ask

        model = provider_model(self.model)
        instructions = "\n\n".join(filter(None, (PROMPT.text, self.instructions)))
        question = f"{frame('text', text)}\n\nClassify the text by {self.name}."
        answered = await ask(model, instructions, question, _form(self.labels))
        answer = cast("_Answer", answered[0])
        return Classification(
            label=answer.label,
            confidence=answer.confidence,
            scores={answer.label: answer.confidence},
            coverage=f"the model {model.model_id}",
            evidence=tuple(self._anchored(text, answer.label, answer.quotes)),
        )

    def _anchored(self, text: str, label: str, quotes: Sequence[str]) -> Iterator[Issue]:
        for quote in quotes:
            span = anchor(text, quote)
            if span is not None:
                message = f"reads as {label}"
                yield Issue.at(text, *span, message, category=self.name, rule=label)


def _form(labels: tuple[str, ...]) -> type[BaseModel]:
    choice: Any = Literal
    return create_model(
        "Classification",
        __doc__="The label of the text.",
        quotes=(list[str], Field(default_factory=list, description="copied exactly")),
        label=(choice[labels], ...),
        confidence=(float, Field(ge=0, le=1, description="0 guess ... 1 certain")),
    )
