"""The model of the calling program: asked by a request, or when the caller comes back.

A host that can be asked answers where the question is put. One that can only be given what is
needed makes the work break off with `Suspended`; what was answered by then is on record, and the
work goes on from there when the answers have come.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol, Self

from sifaka._internal.immutable import Frozen
from sifaka.errors import ModelProviderError


class HostQuestion(Frozen):
    """One question to the host's model."""

    instructions: str
    prompt: str
    max_tokens: int
    temperature: float | None = None


class HostAnswer(Frozen):
    """The answer of the host's model."""

    text: str
    model: str = ""
    """The model's name, where the host tells it."""
    complete: bool = True
    """True when it is complete; False when it was cut at the limit of its length."""


class Host(Protocol):
    """A program that has a model answer questions."""

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        """The answer to a question.

        Args:
            key: The question's place in its run, the same each time the run is worked on, and
                another one for another question.
            question: The question.

        Raises:
            ModelProviderError: The host has refused, or cannot be asked (any more).
            Suspended: The answer comes later, to the process that then goes on with the work.
        """
        ...


class Unreachable:
    """A host that cannot be asked, or is no longer asked.

    Args:
        why: The message of the error that answers every question.
    """

    def __init__(self, why: str) -> None:
        self._why = why

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        """It does not answer; see `Host`."""
        raise ModelProviderError(self._why, error_code="unavailable")


class Suspended(BaseException):
    """The work cannot go on before the host has answered.

    Not an `Exception`: no handler of failures may take it for one. Work that is done in parallel
    goes on as far as it can, so that all that is waited for at the same time is asked at once.
    """

    def __init__(self, questions: Mapping[str, HostQuestion]) -> None:
        super().__init__(f"{len(questions)} questions wait for the host")
        self.questions = questions

    @classmethod
    def together(cls, parts: Iterable["Suspended"]) -> Self:
        """One for all that was being waited for."""
        return cls({key: q for part in parts for key, q in part.questions.items()})
