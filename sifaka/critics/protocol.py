"""The protocol of critics, and critics of other code: objects with `critique`, and functions."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Protocol, cast, runtime_checkable

from sifaka.calls.component import Adapted, Bindable, Component, FunctionComponent
from sifaka.errors import ConfigurationError
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.thought import Thought


@runtime_checkable
class Critic(Protocol):
    """Reads a text and says whether it needs a revision, and why."""

    @property
    def name(self) -> str:
        """The name that its feedback is filed under."""
        ...

    async def critique(self, thought: Thought) -> CriticFeedback:
        """An opinion on `thought.text`, written for the task `thought.prompt`.

        A critic that cannot judge returns `CriticFeedback.abstain(...)` or raises a `SifakaError`;
        both are an abstention, never a vote.
        """
        ...


class CriticComponent(Critic, Bindable, Protocol):
    """A critic that says what it needs, as chains hold them."""


Answer = bool | str | list[str] | CriticFeedback
"""True accepts, False asks for a revision, strings are what to change; no words accept."""
CriticFunction = Callable[[str], Answer | Awaitable[Answer]]
"""A function that judges a text."""


class ForeignCritic(Adapted):
    """An object with `critique`, such as one that a plugin has made."""

    inner: Critic

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The object's opinion; see `Critic`."""
        return await self.inner.critique(thought)


class FunctionCritic(FunctionComponent):
    """A function `(text) -> bool | str | list[str] | CriticFeedback`, sync or async.

    A synchronous one is run in the event loop: one that waits for something should be async.

    Args:
        function: Judges a text.
        name: The name that its feedback is filed under; the function's when None.
    """

    def __init__(self, function: CriticFunction, *, name: str | None = None) -> None:
        super().__init__(function, name=name)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The function's answer; see `Critic`."""
        result = self.function(thought.text)
        answer: object = await result if isawaitable(result) else result
        match answer:
            case CriticFeedback():
                return answer
            case True:
                remarks: list[str] = []
            case False:
                remarks = [f"{self.name} does not hold"]
            case str():
                remarks = [answer]
            case list() | tuple() if all(isinstance(each, str) for each in cast("Any", answer)):
                remarks = list(cast("list[str]", answer))
            case _:
                raise ConfigurationError(
                    f"the critic {self.name!r} returned {type(answer).__name__}",
                    "return True, False, what to change in one or more strings, or CriticFeedback",
                )
        issues = tuple(Issue(message=remark, category="function") for remark in remarks if remark)
        verdict = "revise" if issues else "accept"
        return CriticFeedback(critic=self.name, verdict=verdict, issues=issues)


def as_critic(given: object) -> CriticComponent:
    """A critic as chains hold it: itself, or what makes one of an object or a function.

    Raises:
        ConfigurationError: It is neither a critic nor a function.
    """
    if not isinstance(given, type):
        if isinstance(given, Component) and isinstance(given, Critic):
            return cast("CriticComponent", given)
        if isinstance(given, Critic) or callable(getattr(given, "critique", None)):
            return ForeignCritic(given)
        if callable(given):
            return FunctionCritic(cast("CriticFunction", given))
    what = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
    raise ConfigurationError(
        f"{what} is not a critic",
        "give a name, an object with a type, a function of the text, or an object with `critique`",
    )
