"""Do the claims of a text stand up to evidence?"""

from dataclasses import replace
from typing import Any, Literal, Protocol, TypeVar, cast

from pydantic import Field

from sifaka.errors import ConfigurationError
from sifaka.record.claims import CheckOptions, ClaimChecker
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.claim_issues import (
    details_of,
    issues_of,
    share_not_blocking,
    suggestions_of,
    summary,
)
from sifaka.validators.composition import AllOf, AnyOf, Negated
from sifaka.validators.spec import Name, OptionalSpec

Component = TypeVar("Component")


class Searching(Protocol):
    """A validator or a critic that holds claims against evidence."""

    @property
    def name(self) -> str:
        """What its results are filed under."""
        ...

    @property
    def options(self) -> CheckOptions:
        """How the claims are checked."""
        ...

    def holding(self, checker: ClaimChecker, *, search: bool = True) -> object:
        """It with what it asks, which may have nowhere to search."""
        ...


class EvidenceValidator(OptionalSpec, CheckOptions):
    """Holds each claim of fact against sources and the documents of the version.

    A claim that the evidence contradicts, or both supports and contradicts, fails the text. One
    that nothing is known about does not: it asks for a citation or a hedge. The verdicts, with
    their quotes and sources, are in the result's `details`.
    """

    type: Literal["evidence"] = "evidence"
    name: Name = "evidence"
    checker: Any = Field(default=None, exclude=True)
    """What holds the claims against evidence; the chain gives it its own."""

    def holding(self, checker: ClaimChecker, *, search: bool = True) -> "EvidenceValidator":
        """This validator with what it asks, which may have nowhere to search."""
        if self.checker is not None:
            return self
        return self.model_copy(update={"checker": checker, "search": self.search and search})

    async def validate(  # pyright: ignore[reportIncompatibleMethodOverride] # a dead v1 method
        self, thought: Thought
    ) -> ValidationResult:
        """Check the claims of `thought.text`; see `Validator`.

        Only what is contradicted, or both supported and contradicted, fails. The score is the share
        of claims that may stay. What could not be judged passes, and says why.

        Raises:
            ConfigurationError: It was given nothing to check claims with.
            StorageError: An answer could not be put on record.
        """
        if self.checker is None:
            raise ConfigurationError(
                f"the validator {self.name!r} was given nothing to check claims with",
                "use it in a chain with adapters or retrievers, or call verify_evidence",
            )
        documents = (*thought.pre_generation_context, *thought.post_generation_context)
        if not self.search and not any(document.text.strip() for document in documents):
            return ValidationResult(passed=True, message="no claim was checked: no documents")
        checker: ClaimChecker = self.checker
        report = await checker.check(thought.text, documents=documents, options=self.options)
        return ValidationResult(
            passed=not report.blocking,
            message=summary(report),
            score=share_not_blocking(report),
            issues=issues_of(report, thought.text),
            suggestions=suggestions_of(report),
            details=details_of(report),
        )


def searches(component: object) -> bool:
    """Whether a validator or a critic holds claims against evidence, and needs what does.

    Of a composition, whether one of its parts does.
    """
    return bool(searching(component))


def searching(component: object) -> tuple[Searching, ...]:
    """The validator or critic if it holds claims against evidence, or its parts that do."""
    if callable(getattr(component, "holding", None)) and hasattr(component, "checker"):
        return (cast("Searching", component),)
    if isinstance(component, AllOf | AnyOf):
        return tuple(each for part in component.parts for each in searching(part))
    return searching(component.part) if isinstance(component, Negated) else ()


def with_checker(
    component: Component, checker: ClaimChecker | None, *, search: bool = True
) -> Component:
    """The validator or critic with what it asks, if it is one that asks.

    Args:
        component: It stays as it is when it asks nothing.
        checker: What it asks.
        search: Whether there is anywhere to search; otherwise only documents at hand count.
    """
    if checker is None or not searches(component):
        return component
    made: object = component
    if isinstance(made, AllOf | AnyOf):
        parts = tuple(with_checker(part, checker, search=search) for part in made.parts)
        return cast("Component", replace(made, parts=parts))
    if isinstance(made, Negated):
        return cast(
            "Component", replace(made, part=with_checker(made.part, checker, search=search))
        )
    return cast("Component", cast("Searching", made).holding(checker, search=search))
