"""Validators of other code: any object with `validate`, and plain functions."""

from collections.abc import Awaitable, Callable, Mapping
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Protocol, cast

from sifaka._internal.naming import function_name, function_place
from sifaka.calls.component import Adapted
from sifaka.errors import ConfigurationError
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.composition import Composable, Outcome
from sifaka.validators.protocol import ValidatorComponent

Answer = bool | str | ValidationResult
"""True passes, False fails, a string is the complaint; an empty one passes."""
ValidatorFunction = Callable[[str], Answer | Awaitable[Answer]]
"""A function that checks a text."""


class _Check(Protocol):
    def __call__(self, thought: Thought) -> Outcome: ...


class ForeignValidator(Adapted, Composable):
    """An object with `validate`, such as one that a plugin has made.

    It is required unless it says otherwise, and is called after its class when it has no name.
    """

    def __init__(self, inner: Any, spec: Mapping[str, object] | None = None) -> None:
        super().__init__(inner, spec)
        self.required = bool(getattr(inner, "required", True))
        # The object's own method, so that it can be seen whether it awaits anything.
        self.validate: _Check = inner.validate


class FunctionValidator(Composable):
    """A function `(text) -> bool | str | ValidationResult`, sync or async.

    A synchronous one is run where other synchronous validators are: a short text in the event
    loop, a long one in a worker thread.

    Args:
        function: Checks a text.
        name: The name that its results are filed under; the function's when None.
        required: True when a text that fails is not done.
    """

    def __init__(
        self, function: ValidatorFunction, *, name: str | None = None, required: bool = True
    ) -> None:
        self.function = function
        self.name = name or function_name(function)
        self.required = required
        self.validate: _Check = self._later if iscoroutinefunction(function) else self._now

    @property
    def source(self) -> object:
        """The function."""
        return self.function

    def spec(self) -> Mapping[str, object]:
        """The function by its module and its name: it is code."""
        return {"type": "object", "class": function_place(self.function), "name": self.name}

    def _now(self, thought: Thought) -> Outcome:
        answer = self.function(thought.text)
        return self._awaited(answer) if isawaitable(answer) else self._result(answer)

    async def _later(self, thought: Thought) -> ValidationResult:
        return await self._awaited(cast("Awaitable[Answer]", self.function(thought.text)))

    async def _awaited(self, answer: Awaitable[Answer]) -> ValidationResult:
        return self._result(await answer)

    def _result(self, answer: object) -> ValidationResult:
        match answer:
            case ValidationResult():
                return answer
            case True | "":
                return ValidationResult(passed=True, message="passed")
            case False:
                return self._failed(f"{self.name} does not hold")
            case str():
                return self._failed(answer)
            case _:
                raise ConfigurationError(
                    f"it returned {type(answer).__name__}",
                    "return True, False, a complaint as a string, or a ValidationResult",
                )

    def _failed(self, complaint: str) -> ValidationResult:
        issue = Issue(message=complaint, category="function", rule=self.name)
        return ValidationResult(passed=False, message=complaint, issues=(issue,))


def as_validator(given: object) -> ValidatorComponent:
    """A validator as chains hold it: itself, or what makes one of an object or a function.

    Raises:
        ConfigurationError: It is neither a validator nor a function.
    """
    if not isinstance(given, type):
        if isinstance(given, Composable):
            return cast("ValidatorComponent", given)
        if callable(getattr(given, "validate", None)):
            return ForeignValidator(given)
        if callable(given):
            return FunctionValidator(cast("ValidatorFunction", given))
    what = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
    raise ConfigurationError(
        f"{what} is not a validator",
        "give an object with a type, a function of the text, or an object with `validate`",
    )
