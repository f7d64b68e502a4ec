"""Validators of Guardrails AI, by their names."""

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Annotated, Any, Literal

from anyio import to_thread
from pydantic import AfterValidator, Field, WithJsonSchema, field_validator, model_validator

from sifaka._internal.immutable import FrozenJson
from sifaka.extras import install
from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.guardrails_loader import Rejection, module_of, run
from sifaka.validators.spec import ISSUE_LIMIT, Name, OptionalSpec, Published

COUNT_LIMIT = 20
"""The most validators of one list."""
_PREFIX = re.compile(r"^(?:hub://)?(?:guardrails/|guardrails-ai-)")
_NAME = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")
_REFUSED = {
    "on_fail": "what follows a failure is decided here",
    "use_local": "texts are not sent anywhere",
    "validation_endpoint": "texts are not sent anywhere",
}


def _usable(name: str) -> str:
    short = _PREFIX.sub("", name.strip()).replace("_", "-")
    if not _NAME.fullmatch(short) or len(short) > 60:
        raise ValueError(
            f"{name[:40]!r} is no name of a Guardrails validator, such as 'regex-match'"
        )
    return short


class GuardrailsPart(Published):
    """One validator and what it is constructed with."""

    name: Annotated[str, AfterValidator(_usable)]
    args: FrozenJson = Field(default_factory=dict[str, object])

    @field_validator("args")
    @classmethod
    def _stays_here(cls, args: Mapping[str, object]) -> Mapping[str, object]:
        for name, reason in _REFUSED.items():
            if name in args:
                raise ValueError(f"{name!r} cannot be given: {reason}")
        return args


def _bounded(
    parts: Sequence[str | GuardrailsPart],
) -> tuple[str | GuardrailsPart, ...]:
    if not 1 <= len(parts) <= COUNT_LIMIT:
        raise ValueError(f"should be 1 to {COUNT_LIMIT} validators, not {len(parts)}")
    return tuple(parts)


class GuardrailsValidator(OptionalSpec):
    """Runs validators of Guardrails AI in a worker thread, each from its package on PyPI.

    `regex-match` is the package `guardrails-ai-regex-match`; it has to be installed, nothing is
    fetched. The telemetry of Guardrails is off, and models run here and not at its service. A
    validator may still do anything its author wrote: install those you trust.
    """

    type: Literal["guardrails"] = "guardrails"
    name: Name = "guardrails"
    validators: Annotated[
        Sequence[Annotated[str, AfterValidator(_usable)] | GuardrailsPart],
        AfterValidator(_bounded),
        WithJsonSchema({"type": "array", "items": {}, "description": "names or {name, args}"}),
    ]

    @model_validator(mode="after")
    def _is_installed(self) -> "GuardrailsValidator":
        missing = [part.name for part in self._parts() if not _found(part.name)]
        if missing:
            packages = " ".join(f"guardrails-ai-{name}" for name in missing)
            raise ValueError(
                f"the Guardrails validator {missing[0]!r} is not installed; "
                f"{install('guardrails', beside=packages)}"
            )
        return self

    async def validate(self, thought: Thought) -> ValidationResult:
        """Run every validator off the event loop."""
        return await to_thread.run_sync(self._check, thought.text, abandon_on_cancel=True)

    def _check(self, text: str) -> ValidationResult:
        findings = [run(part.name, part.args, text) for part in self._parts()]
        failed = [rejection for rejection in findings if rejection is not None]
        count = len(findings)
        return ValidationResult(
            passed=not failed,
            message="; ".join(f"{each.name}: {each.message}" for each in failed)
            or f"{count} of {count} validators of Guardrails pass",
            score=1 - len(failed) / count,
            issues=tuple(issue for each in failed for issue in _issues(text, each))[:ISSUE_LIMIT],
            suggestions=tuple(each.message for each in failed),
        )

    def _parts(self) -> list[GuardrailsPart]:
        return [
            part if isinstance(part, GuardrailsPart) else GuardrailsPart(name=part)
            for part in self.validators
        ]


def _issues(text: str, rejection: Rejection) -> list[Issue]:
    about: dict[str, Any] = {"category": "guardrails", "rule": rejection.name}
    spans = [
        Issue.at(text, start, end, reason or rejection.message, **about)
        for start, end, reason in rejection.spans
        if 0 <= start < end <= len(text)
    ]
    # A fix is one for the whole text: it cannot be told apart by spans, and may be nonsense.
    if rejection.fix is not None and rejection.fix != text:
        whole = Issue.at(text, 0, len(text), rejection.message, **about, fix=rejection.fix)
        return [whole, *spans]
    return spans or [Issue(message=rejection.message, **about)]


def _found(name: str) -> bool:
    try:
        return find_spec("guardrails") is not None and find_spec(module_of(name)) is not None
    except ModuleNotFoundError:  # there is no package of Guardrails at all
        return False
