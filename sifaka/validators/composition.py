"""Validators made of validators: `a & b`, `a | b`, `~a`."""

from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable, iscoroutine
from typing import Any, Self, cast

from anyio import create_task_group

from sifaka.calls.component import Binding, ClaimCheck, Component
from sifaka.calls.host import Suspended
from sifaka.calls.journal import scope
from sifaka.errors import ConfigurationError, ValidationError
from sifaka.record.results import Issue, ValidationResult, unchecked_by
from sifaka.record.thought import Thought
from sifaka.validators.protocol import Validator, ValidatorComponent

Outcome = ValidationResult | Awaitable[ValidationResult]
Part = Validator | Callable[[str], Any]
"""A validator, or a function; see `sifaka.validators.custom`."""


class Composable(Component):
    """Gives a validator the operators `&`, `|` and `~`; a plain function may stand beside one."""

    def __and__(self, other: Part) -> "AllOf":
        return all_of(cast("Validator", self), other)

    def __rand__(self, other: Part) -> "AllOf":
        return all_of(other, cast("Validator", self))

    def __or__(self, other: Part) -> "AnyOf":
        return any_of(cast("Validator", self), other)

    def __ror__(self, other: Part) -> "AnyOf":
        return any_of(other, cast("Validator", self))

    def __invert__(self) -> ValidatorComponent:
        return Negated(cast("ValidatorComponent", self))


def all_of(*parts: Part) -> "AllOf":
    """Passes where every part does, as `a & b` does.

    Raises:
        ConfigurationError: There is no part.
    """
    return AllOf(_flat(AllOf, parts))


def any_of(*parts: Part) -> "AnyOf":
    """Passes where at least one part does, as `a | b` does.

    Raises:
        ConfigurationError: There is no part.
    """
    return AnyOf(_flat(AnyOf, parts))


def negate(part: Part) -> ValidatorComponent:
    """Passes where the validator fails, as `~a` does; of a negation, what it negates."""
    return part.__invert__() if isinstance(part, Composable) else Negated(_adapted(part))


@dataclass(frozen=True)
class _Composite(Composable):
    """Base of the compositions. Every part is run, so a part that crashes always shows.

    An exception of a part goes through all levels: the whole composition has failed, and no
    negation makes a pass of it.
    """

    parts: tuple[ValidatorComponent, ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ConfigurationError("a composition has no parts", "give at least one validator")

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

    def validate(self, thought: Thought) -> Outcome:
        """Run every part; an answer to await as soon as one part gives one."""
        found: list[Outcome] = []
        try:
            for part in self.parts:
                found.append(part.validate(thought))  # noqa: PERF401 # what ran before must be closed
        except BaseException:
            _close(found)
            raise
        if any(map(isawaitable, found)):
            return _Pending(found, self._of)
        return self._of([_checked(outcome) for outcome in found])

    def _of(self, results: Sequence[ValidationResult]) -> ValidationResult:
        raise NotImplementedError

    def _messages(self, results: Iterable[tuple[Validator, ValidationResult]]) -> str:
        return "; ".join(f"{part.name}: {result.message}" for part, result in results)


@dataclass(frozen=True)
class AllOf(_Composite):
    """Passes where every part does. Its score is the lowest; its issues are of what failed."""

    @property
    def name(self) -> str:
        """Such as `all(length, content)`."""
        return f"all({', '.join(part.name for part in self.parts)})"

    def __invert__(self) -> "AnyOf":
        return AnyOf(tuple(negate(part) for part in self.parts))

    def _of(self, results: Sequence[ValidationResult]) -> ValidationResult:
        both = list(zip(self.parts, results, strict=True))
        failed = [(part, result) for part, result in both if not result.passed]
        return ValidationResult(
            passed=not failed,
            message=self._messages(failed or both),
            score=min(result.score for result in results),
            issues=_issues(result for _, result in failed),
            suggestions=_suggestions(result for _, result in failed),
            unchecked=None if failed else unchecked_by(results),
        )


@dataclass(frozen=True)
class AnyOf(_Composite):
    """Passes where at least one part does. Its score is the highest; it has issues if all failed.

    None of their fixes is safe: the writer chooses the alternative to meet.
    """

    @property
    def name(self) -> str:
        """Such as `any(length, content)`."""
        return f"any({', '.join(part.name for part in self.parts)})"

    def __invert__(self) -> "AllOf":
        return AllOf(tuple(negate(part) for part in self.parts))

    def _of(self, results: Sequence[ValidationResult]) -> ValidationResult:
        both = list(zip(self.parts, results, strict=True))
        passed = [(part, result) for part, result in both if result.passed]
        failed = () if passed else results
        issues = _issues(failed)
        return ValidationResult(
            passed=bool(passed),
            message=self._messages(passed or both),
            score=max(result.score for result in results),
            issues=tuple(issue.model_copy(update={"safe": False}) for issue in issues),
            suggestions=_suggestions(failed),
            unchecked=unchecked_by([result for _, result in passed]),
        )


@dataclass(frozen=True)
class Negated(Composable):
    """Passes where its part fails, with what its score is short of 1.

    Compositions are not wrapped but turned round: `~(a & b)` is `~a | ~b`, and `~~a` is `a`.
    """

    part: ValidatorComponent

    @property
    def name(self) -> str:
        """Such as `not length`."""
        return f"not {self.part.name}"

    @property
    def claim_checks(self) -> tuple[ClaimCheck, ...]:
        """Those of the part."""
        return self.part.claim_checks

    def bind(self, binding: Binding) -> Self:
        """The negation of the bound part."""
        return replace(self, part=self.part.bind(binding))

    @property
    def required(self) -> bool:
        """Binding where its part is."""
        return self.part.required

    def __invert__(self) -> ValidatorComponent:
        return self.part

    def validate(self, thought: Thought) -> Outcome:
        """Run the part; what it raises stays raised."""
        found = self.part.validate(thought)
        return _Pending([found], self._of) if isawaitable(found) else self._of([_checked(found)])

    def _of(self, results: Sequence[ValidationResult]) -> ValidationResult:
        (result,) = results
        if result.unchecked:
            return result
        message = f"{self.part.name!r} should not pass: {result.message}"
        return ValidationResult(
            passed=not result.passed,
            message=message if result.passed else f"as wanted, not: {result.message}",
            score=1 - result.score,
            issues=(Issue(message=message, category="composition", rule="not"),)
            if result.passed
            else (),
        )


@dataclass(frozen=True)
class _Pending:
    """The result of parts of which some are still to be awaited.

    An object and not a coroutine, because a coroutine that is closed before it has begun cannot
    close the ones it was going to await.
    """

    found: Sequence[Outcome]
    result_of: Callable[[Sequence[ValidationResult]], ValidationResult]

    def __await__(self) -> Generator[Any, Any, ValidationResult]:
        return self._run().__await__()

    def close(self) -> None:
        """Give up what was not awaited."""
        _close(self.found)

    async def _run(self) -> ValidationResult:
        results: dict[int, ValidationResult] = {}
        failures: dict[int, Exception] = {}
        waiting: list[Suspended] = []

        async def wait(at: int, outcome: Outcome) -> None:
            try:
                # They run at the same time, so each has a place of its own in the journal.
                with scope(f"part {at}"):
                    results[at] = _checked(await outcome if isawaitable(outcome) else outcome)
            except Suspended as suspended:
                waiting.append(suspended)
            # Raised again below, out of the exception group that no caller expects.
            except Exception as error:  # noqa: BLE001
                failures[at] = error

        try:
            async with create_task_group() as group:
                for at, outcome in enumerate(self.found):
                    group.start_soon(wait, at, outcome)
        finally:
            self.close()
        if failures:
            raise failures[min(failures)]
        if waiting:
            raise Suspended.together(waiting)
        if len(results) < len(self.found):
            raise ValidationError("a part of a composition cancelled itself")
        return self.result_of([results[at] for at in range(len(self.found))])


def _flat(kind: type["AllOf | AnyOf"], parts: Sequence[Part]) -> tuple[ValidatorComponent, ...]:
    """The parts, with those of the same kind opened: `(a & b) & c` is one composition of three."""
    return tuple(
        inner
        for part in parts
        for inner in (part.parts if isinstance(part, kind) else (_adapted(part),))
    )


def _adapted(part: Part) -> ValidatorComponent:
    from sifaka.validators.custom import as_validator  # what it makes has the operators above

    return as_validator(part)


def _checked(outcome: object) -> ValidationResult:
    if not isinstance(outcome, ValidationResult):
        raise ValidationError(f"a validator returned {type(outcome).__name__}, not a result")
    return outcome


def _close(found: Iterable[Outcome]) -> None:
    for outcome in found:
        if isinstance(outcome, _Pending) or iscoroutine(outcome):
            outcome.close()


def _issues(results: Iterable[ValidationResult]) -> tuple[Issue, ...]:
    return tuple(dict.fromkeys(issue for result in results for issue in result.issues))


def _suggestions(results: Iterable[ValidationResult]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for result in results for each in result.suggestions))
