"""What a package of somebody else offers: some of it works, and some does not."""

from pathlib import Path

from pydantic import BaseModel, Field

from sifaka.critics.judge import JudgingCritic
from sifaka.errors import CriticError
from sifaka.models.prompt import Prompt
from sifaka.record.results import CriticFeedback, ValidationResult
from sifaka.record.thought import Thought
from sifaka.storage import MemoryStorage

NOT_CALLABLE = 7


class Tone:
    """A critic made by a function of options."""

    name = "tone"

    def __init__(self, wanted: str) -> None:
        self._wanted = wanted

    async def critique(self, thought: Thought) -> CriticFeedback:
        if "fail" in thought.text:
            raise CriticError("https://me:hunter22@acme.example has refused sk-acme123456")
        found = self._wanted in thought.text
        return CriticFeedback(
            critic=self.name,
            verdict="accept" if found else "revise",
            suggestions=() if found else (f"be more {self._wanted}",),
        )


def tone(*, wanted: str = "polite") -> Tone:
    if wanted == "bug":
        raise ZeroDivisionError("the private words of a bug")
    return Tone(wanted)


_PROMPT = Prompt(
    purpose="Judges the tone.", task="Is it polite?", rules=("Answer by the text alone.",)
)


class Judge(JudgingCritic):
    """A critic that asks the chain's model, as the built-in ones do."""

    type: str = "acme_judge"
    name: str = "acme judge"

    async def critique(self, thought: Thought) -> CriticFeedback:
        feedback, _ = await self._opinion(_PROMPT, thought)
        return feedback


class Lines(BaseModel):
    """A validator that is its own spec."""

    most: int = Field(ge=1)
    name: str = "lines"
    required: bool = True

    def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # shadows a dead v1 method
        self, thought: Thought
    ) -> ValidationResult:
        count = thought.text.count("\n") + 1
        return ValidationResult(passed=count <= self.most, message=f"{count} lines")


class _Ends:
    def __init__(self, words: str) -> None:
        self._words = words

    async def validate(self, thought: Thought) -> ValidationResult:
        return ValidationResult(passed=thought.text.endswith(self._words), message="looked")


def ends_with(words: str) -> _Ends:
    return _Ends(words)


def nothing(*_: object, **__: object) -> object:
    return object()


def open_store(url: str, *, home: Path, tenant: str) -> MemoryStorage:
    if "fail" in url:
        raise RuntimeError("the private words of a bug")
    return MemoryStorage(tenant=tenant)
