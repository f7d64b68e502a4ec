"""Validators: their protocol, those of other code, and all of them run at once.

One that crashes has failed its text, and cannot bring the run down.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from inspect import isawaitable, iscoroutinefunction
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import anyio
from anyio import to_thread

from sifaka._internal.naming import unique
from sifaka.calls.component import Adapted, Bindable, Component, FunctionComponent
from sifaka.calls.context import current_calls, fan_out, is_cancelled
from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError, StorageError, ValidationError
from sifaka.isolation import SHORT
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought

logger = logging.getLogger("sifaka")


@runtime_checkable
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


Answer = bool | str | ValidationResult
"""True passes, False fails, a string is the complaint; an empty one passes."""
ValidatorFunction = Callable[[str], Answer | Awaitable[Answer]]
"""A function that checks a text."""
Given = TypeVar("Given")


async def called(check: Callable[[Given], object], given: Given, size: int) -> object:
    """The answer of a check; a synchronous one works on a long text in a thread.

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


class ForeignValidator(Adapted):
    """An object with `validate`, such as one that a plugin has made.

    It is required unless it says otherwise, and is called after its class when it has no name.
    """

    def __init__(self, inner: Any, spec: Mapping[str, object] | None = None) -> None:
        super().__init__(inner, spec)
        self.required = bool(getattr(inner, "required", True))

    async def validate(self, thought: Thought) -> ValidationResult:
        """The object's own result; see `Validator`."""
        return await outcome_of(self.inner, thought)


class FunctionValidator(FunctionComponent):
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
                complaint = f"{self.name} does not hold"
            case str():
                complaint = answer
            case _:
                raise ConfigurationError(
                    f"it returned {type(answer).__name__}",
                    "return True, False, a complaint as a string, or a ValidationResult",
                )
        issue = Issue(message=complaint, category="function", rule=self.name)
        return ValidationResult(passed=False, message=complaint, issues=(issue,))


def as_validator(given: object) -> ValidatorComponent:
    """A validator as chains hold it: itself, or what makes one of an object or a function.

    Raises:
        ConfigurationError: It is neither a validator nor a function.
    """
    if not isinstance(given, type):
        if isinstance(given, Component) and isinstance(given, Validator):
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


# --- running them ---


async def run_validators(
    validators: Sequence[Validator], thought: Thought, original: str | None = None
) -> dict[str, ValidationResult]:
    """Run the validators on the thought's text.

    Args:
        validators: The validators; two of one name are told apart as `length` and `length#2`.
        thought: The version to check. It stays as it is.
        original: The text the run started with, for validators that compare.

    Returns:
        The results by unique name, in the order of the validators, each with the validator's name
        and whether it is required. A validator that crashed has failed.

    Raises:
        StorageError: An answer that a validator has got could not be put on record.
        Suspended: Some wait for answers of the host; the others have come to their end.
    """
    if original is not None:
        metadata = {**thought.metadata, "original": original}
        thought = thought.with_text(thought.text, metadata=metadata)
    named = dict(zip(unique(each.name for each in validators), validators, strict=True))
    answers = await fan_out(
        {
            f"validators.{name}": partial(_run_validator, name, each, thought)
            for name, each in named.items()
        },
        calls_each=0,
    )
    return dict(zip(named, answers, strict=True))


async def _run_validator(name: str, validator: Validator, thought: Thought) -> ValidationResult:
    try:
        with current_calls().monitor.measure("validator", name):
            result = await outcome_of(validator, thought)
        return result.model_copy(update={"validator": name, "required": validator.required})
    except StorageError:
        raise
    except anyio.get_cancelled_exc_class():
        if is_cancelled():
            raise
        fault = "crashed with Cancelled"
    # Broad on purpose: a validator may be foreign code, and one that crashes has failed its text.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, f"validator:{name}", error, source=validator, run_id=thought.run_id)
        match error:
            case TimeoutError():
                fault = "took too much time"
            case MemoryError():
                fault = "took too much memory"
            case ConfigurationError():
                fault = f"could not be run: {error}"
            case _:
                fault = f"crashed with {type(error).__name__}"
    message = f"the validator {name!r} {fault}"
    return ValidationResult(
        passed=False,
        message=message,
        validator=name,
        required=validator.required,
        issues=(Issue(message=message, category="validator", rule="crash"),),
    )
