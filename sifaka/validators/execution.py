"""Running validators: all at once, and none of them can bring the run down."""

import logging
from collections.abc import Sequence
from functools import partial
from inspect import isawaitable, iscoroutinefunction

from anyio import create_task_group, to_thread
from anyio.lowlevel import checkpoint

from sifaka._internal.naming import unique
from sifaka.calls.context import current_calls
from sifaka.calls.failure_log import report_failure
from sifaka.calls.host import Suspended
from sifaka.calls.journal import scope
from sifaka.errors import ConfigurationError, StorageError
from sifaka.isolation import SHORT
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.protocol import Validator

THREAD_FROM = SHORT
"""Texts with more characters are checked in a worker thread by validators that are synchronous."""

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
    named = list(zip(unique(each.name for each in validators), validators, strict=True))
    results: dict[str, ValidationResult] = {}
    failures: list[StorageError] = []
    waiting: list[Suspended] = []

    monitor = current_calls().monitor

    async def run(name: str, validator: Validator) -> None:
        # Errors that must get through are raised below, out of a group that no caller expects.
        try:
            with monitor.measure("validator", name), scope(f"validators.{name}"):
                results[name] = await _result(name, validator, thought)
        except Suspended as suspended:
            waiting.append(suspended)
        except StorageError as error:
            failures.append(error)

    slow: list[tuple[str, Validator]] = []
    for name, validator in named:
        if _takes_time(validator, thought):
            slow.append((name, validator))
        else:
            await run(name, validator)
            await checkpoint()  # other requests come between two of them
    if slow:
        async with create_task_group() as group:
            for name, validator in slow:
                group.start_soon(run, name, validator)
    if failures:
        raise failures[0]
    if waiting:
        raise Suspended.together(waiting)
    # A result is missing when a validator cancelled itself, which no task group reports.
    return {
        name: results[name] if name in results else _crashed(name, validator, "Cancelled")
        for name, validator in named
    }


def _takes_time(validator: Validator, thought: Thought) -> bool:
    """True when others run beside it: it awaits something, or goes to a thread."""
    return len(thought.text) > THREAD_FROM or iscoroutinefunction(validator.validate)


async def _result(name: str, validator: Validator, thought: Thought) -> ValidationResult:
    try:
        if len(thought.text) > THREAD_FROM and not iscoroutinefunction(validator.validate):
            check = partial(validator.validate, thought)
            found = await to_thread.run_sync(check, abandon_on_cancel=True)
        else:
            found = validator.validate(thought)
        result = await found if isawaitable(found) else found
        return result.model_copy(update={"validator": name, "required": validator.required})
    except StorageError:
        raise
    # Broad on purpose: a validator may be foreign code, and one that crashes has failed its text.
    except Exception as error:  # noqa: BLE001 - reported just below
        report_failure(logger, f"validator:{name}", error, source=validator, run_id=thought.run_id)
        if isinstance(error, TimeoutError | MemoryError):
            spent = "time" if isinstance(error, TimeoutError) else "memory"
            return _failed(validator, name, f"the validator {name!r} took too much {spent}")
        if isinstance(error, ConfigurationError):
            return _failed(validator, name, f"the validator {name!r} could not be run: {error}")
        return _crashed(name, validator, type(error).__name__)


def _crashed(name: str, validator: Validator, kind: str) -> ValidationResult:
    return _failed(validator, name, f"the validator {name!r} crashed with {kind}")


def _failed(validator: Validator, name: str, message: str) -> ValidationResult:
    return ValidationResult(
        passed=False,
        message=message,
        validator=name,
        required=validator.required,
        issues=(Issue(message=message, category="validator", rule="crash"),),
    )
