"""The model a critic asks."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, Field

from sifaka.calls.component import Binding, DataComponent, code_spec
from sifaka.critics.opinion import Opinion, Replies, ask_all, case, feedback_of
from sifaka.errors import ConfigurationError
from sifaka.models.prompt import Prompt
from sifaka.models.structured import ask
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.validators.spec import Name

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

_UNBOUND = Binding()
Answer = TypeVar("Answer", bound=BaseModel)

REVIEWER = "You review a text by another author."
KEEPS_FACTS = (
    "If `original` is shown, each fact, number, name, quotation and link that the text has lost, "
    "changed or invented is an issue, unless the task asks for that change. A limit of length asks "
    "for leaving things out."
)
REPORTS = (
    "Report only what makes the text worse for its readers. Copy each quote exactly from the text; "
    "leave it empty for what is missing. Say in the message what is wrong and how to mend it; put "
    "the words that replace the quote into `fix`, where they mend it alone.",
    "What only the author can settle, such as figures that do not agree, is no issue: say it in "
    "`suggestions`, which the author reads.",
    "Then give the verdict: `revise` when an issue is worth another version, otherwise `accept`.",
)
"""The last rules of every prompt that is answered with issues and a verdict."""
REVIEW = (
    "Ask five questions: does it fulfil the task, is it correct, is it complete, is it clear, is "
    "it as short as it can be?",
    "Score `task`, `correct`, `complete`, `clear` and `concise` from 0 (fails) to 1 (nothing to "
    "improve).",
    KEEPS_FACTS,
    *REPORTS,
)
"""The rules of a review of everything."""
_ASKED = "Report the issues of the text, if there are any, and give your verdict."


def usable_model(model: Any) -> Any:
    """The model, when it is a name or a PydanticAI model; raises ValueError otherwise."""
    wanted = "should be a model's name such as provider:name, or a PydanticAI model"
    if isinstance(model, str):
        if not model.strip():
            raise ValueError(f"{wanted}, not an empty string")
        return model
    if not _is_model(model):
        raise ValueError(f"{wanted}, not {type(model).__name__}")
    return model


def _is_model(value: object) -> bool:
    # What came as JSON is none, and needs no PydanticAI to find out.
    if value is None or isinstance(value, bool | int | float | list | tuple | Mapping):
        return False
    from sifaka._internal.lazy import load_pydantic_ai

    load_pydantic_ai()
    from pydantic_ai.models import Model

    return isinstance(value, Model)


ModelOrName = Annotated[Any, AfterValidator(usable_model)]
"""A `provider:name` or a PydanticAI model."""


class JudgingCritic(DataComponent, ABC):
    """Base of the critics that ask a model: the model, and a question to it."""

    name: Name = "judge"
    model: ModelOrName | None = Field(default=None, exclude=True)
    """A `provider:name`, a PydanticAI model, or None for the chain's judge."""

    @abstractmethod
    async def critique(self, thought: Thought) -> CriticFeedback:
        """See `Critic`."""

    @property
    def models(self) -> tuple[Any, ...]:
        """The model that it names, and once it is bound the one that it asks."""
        return () if self.model is None else (self.model,)

    def calls(self, text: str = "") -> int:
        """One, unless a technique says otherwise."""
        return 1

    def bind(self, binding: Binding) -> Self:
        """The critic with its model opened; the binding's model is asked where it names none."""
        return self.model_copy(update={"model": self._open_model(self.model, binding)})

    def spec(self) -> Mapping[str, object]:
        """Its type and its options; with a model that is an object it is code."""
        own = {} if self.model is None else {"model": self.model}
        if not all(isinstance(model, str) for model in (*self.models, *own.values())):
            return code_spec(self)
        return {**super().spec(), **own}

    def _open_model(self, model: Any, binding: Binding = _UNBOUND) -> "Model":
        from sifaka.models.provider import provider_model

        chosen = binding.model if model is None else model
        if chosen is None:
            raise ConfigurationError(
                f"critic {self.name!r} needs a model",
                "configure one (SIFAKA_MODEL, or model=provider:name), or use the critic `lint`",
            )
        return (binding.open or provider_model)(chosen)

    async def _ask(
        self,
        prompt: Prompt,
        question: str,
        form: type[Answer],
        *,
        model: Any = None,
        settings: "ModelSettings | None" = None,
    ) -> tuple[Answer, Usage]:
        """One question; see `sifaka.models.structured.ask`."""
        opened = self._open_model(self.model if model is None else model)
        return await ask(opened, prompt.text, question, form, settings=settings)

    def _question(self, thought: Thought, *standards: str, sample: str = "") -> str:
        """The material by which a text is judged, and what is asked about it."""
        return "\n\n".join(filter(None, (case(thought, *standards), sample, _ASKED)))

    async def _opinion(
        self,
        prompt: Prompt,
        thought: Thought,
        *standards: str,
        model: Any = None,
        sample: str = "",
        settings: "ModelSettings | None" = None,
    ) -> tuple[CriticFeedback, Usage]:
        """The feedback that one call gives.

        Args:
            prompt: The instructions.
            thought: The thought.
            standards: The standards to judge it by, in the user's words, framed.
            model: Asked instead of the critic's model.
            sample: Which of several opinions it is, where the same is asked several times.
            settings: Of the call.
        """
        question = self._question(thought, *standards, sample=sample)
        opinion, usage = await self._ask(prompt, question, Opinion, model=model, settings=settings)
        return feedback_of(self.name, opinion, thought, usage), usage

    async def _draw_samples(
        self, prompt: Prompt, thought: Thought, what: str, n: int, temperature: float
    ) -> Replies[CriticFeedback]:
        """The feedback of several calls for the same, drawn at a temperature.

        Each says which one it is: a model that takes no temperature, or a cache before it, would
        give one answer to equal requests.
        """
        return await ask_all(
            {
                f"{what} {number}": partial(
                    self._opinion,
                    prompt,
                    thought,
                    sample=f"This is {what} {number} of {n}, given without sight of the others.",
                    settings={"temperature": temperature},
                )
                for number in range(1, n + 1)
            }
        )
