"""The protocol of validators, and those made of validators, as in `a & b`, and of other code."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Protocol, Self, TypeVar, cast

from anyio import to_thread

from sifaka.calls.component import (
    Adapted,
    Bindable,
    Binding,
    ClaimCheck,
    Component,
    FunctionComponent,
)
from sifaka.calls.context import fan_out
from sifaka.errors import ConfigurationError, ValidationError
from sifaka.isolation import SHORT
from sifaka.record.results import Issue, ValidationResult, unchecked_by
from sifaka.record.thought import Thought


class Validator(Protocol):
    """Checks one thing about a text. It never alters the text."""

    @property
    def name(self) -> str:
        """The name that its results are filed under."""
        ...

    @property
    def required(self) -> bool:
        """True when a text that fails is not done."""
        ...

    def validate(self, thought: Thought) -> ValidationResult | Awaitable[ValidationResult]:
        """Check `thought.text`.

        A validator that compares reads the original in `thought.metadata["original"]`.
        """
        ...


class ValidatorComponent(Validator, Bindable, Protocol):
    """A validator that says what it needs, as chains hold them."""


Part = Validator | Callable[[str], Any]
"""A validator, or a function."""
Answer = bool | str | ValidationResult
"""True passes, False fails, a string is the complaint; an empty one passes."""
ValidatorFunction = Callable[[str], Answer | Awaitable[Answer]]
"""A function that checks a text."""
Given = TypeVar("Given")


async def called(check: Callable[[Given], object], given: Given, size: int) -> object:
    """The answer of a check that may be synchronous, as which it works on a long text in a thread.

    Args:
        check: The check.
        given: Its argument.
        size: Characters of the text.
    """
    if size > SHORT and not iscoroutinefunction(check):
        answer: object = await to_thread.run_sync(partial(check, given), abandon_on_cancel=True)
    else:
        answer = check(given)
    return await answer if isawaitable(answer) else answer


async def outcome_of(validator: Validator, thought: Thought) -> ValidationResult:
    """The result of a validator.

    Raises:
        ValidationError: It has returned something else.
    """
    result = await called(validator.validate, thought, len(thought.text))
    if not isinstance(result, ValidationResult):
        raise ValidationError(f"a validator returned {type(result).__name__}, not a result")
    return result


class Composable(Component):
    """Gives a validator the operators `&` and `|`; a plain function may stand beside one."""

    def __and__(self, other: Part) -> "Composition":
        return all_of(cast("Validator", self), other)

    def __rand__(self, other: Part) -> "Composition":
        return all_of(other, cast("Validator", self))

    def __or__(self, other: Part) -> "Composition":
        return any_of(cast("Validator", self), other)

    def __ror__(self, other: Part) -> "Composition":
        return any_of(other, cast("Validator", self))


def all_of(*parts: Part) -> "Composition":
    """Passes where every part does, as `a & b` does.

    Raises:
        ConfigurationError: There is no part.
    """
    return Composition(_flat(parts, every=True), every=True)


def any_of(*parts: Part) -> "Composition":
    """Passes where at least one part does, as `a | b` does.

    Raises:
        ConfigurationError: There is no part.
    """
    return Composition(_flat(parts, every=False), every=False)


@dataclass(frozen=True)
class Composition(Composable):
    """Passes where every part does, or at least one: `a & b` or `a | b`.

    Every part is run, so one that crashes always shows: its exception goes through all levels, and
    the whole composition has failed. The score is that of the part that decides: of all the lowest,
    of any the highest. It has the issues of the parts that failed. Where any part is enough none of
    their fixes is safe: the writer chooses the alternative to meet.
    """

    parts: tuple[ValidatorComponent, ...]
    every: bool

    def __post_init__(self) -> None:
        if not self.parts:
            raise ConfigurationError("a composition has no parts", "give at least one validator")

    @property
    def name(self) -> str:
        """Such as `all(length, content)` or `any(length, content)`."""
        return f"{'all' if self.every else 'any'}({', '.join(part.name for part in self.parts)})"

    @property
    def required(self) -> bool:
        """Binding as soon as one part is: a part has no say of its own."""
        return any(part.required for part in self.parts)

    @property
    def claim_checks(self) -> tuple[ClaimCheck, ...]:
        """Those of every part."""
        return tuple(check for part in self.parts for check in part.claim_checks)

    def bind(self, binding: Binding) -> Self:
        """The composition of the bound parts."""
        return replace(self, parts=tuple(part.bind(binding) for part in self.parts))

    async def validate(self, thought: Thought) -> ValidationResult:
        """Run every part; what one raises stays raised."""
        parts = {
            f"part {at}": partial(outcome_of, part, thought) for at, part in enumerate(self.parts)
        }
        results = await fan_out(parts, calls_each=0)
        both = list(zip(self.parts, results, strict=True))
        decisive = [(part, result) for part, result in both if result.passed is not self.every]
        passed = bool(decisive) is not self.every
        failed = () if passed else [result for result in results if not result.passed]
        issues = dict.fromkeys(issue for result in failed for issue in result.issues)
        kept = {} if self.every else {"safe": False}
        return ValidationResult(
            passed=passed,
            message="; ".join(f"{part.name}: {each.message}" for part, each in decisive or both),
            score=(min if self.every else max)(result.score for result in results),
            issues=tuple(issue.model_copy(update=kept) for issue in issues),
            suggestions=tuple(dict.fromkeys(each for r in failed for each in r.suggestions)),
            unchecked=unchecked_by([r for r in results if r.passed]) if passed else None,
        )


def _flat(parts: Sequence[Part], *, every: bool) -> tuple[ValidatorComponent, ...]:
    """The parts, with those of the same kind opened: `(a & b) & c` is one composition of three."""
    return tuple(
        inner
        for part in parts
        for inner in (
            part.parts
            if isinstance(part, Composition) and part.every is every
            else (as_validator(part),)
        )
    )


class ForeignValidator(Adapted, Composable):
    """An object with `validate`, such as one that a plugin has made.

    It is required unless it says otherwise, and is called after its class when it has no name.
    """

    def __init__(self, inner: Any, spec: Mapping[str, object] | None = None) -> None:
        super().__init__(inner, spec)
        self.required = bool(getattr(inner, "required", True))

    async def validate(self, thought: Thought) -> ValidationResult:
        """The object's own result; see `Validator`."""
        return await outcome_of(self.inner, thought)


class FunctionValidator(FunctionComponent, Composable):
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
        super().__init__(function, name=name)
        self.required = required

    async def validate(self, thought: Thought) -> ValidationResult:
        """The function's answer; see `Validator`."""
        answer = await called(self.function, thought.text, len(thought.text))
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
