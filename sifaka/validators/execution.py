"""Running validators: all at once, and none of them can bring the run down."""

import logging
from collections.abc import Sequence
from functools import partial

import anyio

from sifaka._internal.naming import unique
from sifaka.calls.context import current_calls, fan_out, is_cancelled
from sifaka.calls.failure_log import report_failure
from sifaka.errors import ConfigurationError, StorageError
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.composition import Validator, outcome_of

logger = logging.getLogger("sifaka")


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
            f"validators.{name}": partial(_result, name, each, thought)
            for name, each in named.items()
        },
        calls_each=0,
    )
    return dict(zip(named, answers, strict=True))


async def _result(name: str, validator: Validator, thought: Thought) -> ValidationResult:
    try:
        with current_calls().monitor.measure("validator", name):
            result = await outcome_of(validator, thought)
        return result.model_copy(update={"validator": name, "required": validator.required})
    except StorageError:
        raise
    except anyio.get_cancelled_exc_class():
        if is_cancelled():
            raise
        return _failed(validator, name, f"the validator {name!r} crashed with Cancelled")
    # Broad on purpose: a validator may be foreign code, and one that crashes has failed its text.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, f"validator:{name}", error, source=validator, run_id=thought.run_id)
        if isinstance(error, TimeoutError | MemoryError):
            spent = "time" if isinstance(error, TimeoutError) else "memory"
            return _failed(validator, name, f"the validator {name!r} took too much {spent}")
        if isinstance(error, ConfigurationError):
            return _failed(validator, name, f"the validator {name!r} could not be run: {error}")
        crash = type(error).__name__
        return _failed(validator, name, f"the validator {name!r} crashed with {crash}")


def _failed(validator: Validator, name: str, message: str) -> ValidationResult:
    return ValidationResult(
        passed=False,
        message=message,
        validator=name,
        required=validator.required,
        issues=(Issue(message=message, category="validator", rule="crash"),),
    )
