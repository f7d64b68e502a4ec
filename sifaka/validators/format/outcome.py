"""The outcomes of parsing: an error, or the result of a text that parsed."""

from collections.abc import Callable, Mapping

from sifaka.record.results import Issue, ValidationResult
from sifaka.text.prose import Span
from sifaka.validators.format.schema import VIOLATION_LIMIT, Json, Path, Violation, violations

_EMPTY = {
    "JSON": ("no JSON value", "write one JSON value"),
    "YAML": ("no YAML", "write a mapping or a list"),
}
"""The issue of a text without a word, and what to do about it."""


class Malformed(ValueError):
    """The text is not of the format; carries the reason and its position."""

    def __init__(self, reason: str, position: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.position = reason, position


def malformed_result(
    kind: str, text: str, problem: Malformed, *, advice: str, fix: str | None = None
) -> ValidationResult:
    """The failure of a text that is not of its format, at the line and column of the problem.

    With a `fix`, which replaces the whole text, the issue is about all of it.
    """
    if not text.strip():
        missing, advice = _EMPTY[kind]
        return ValidationResult(
            passed=False,
            message=f"the text is empty, not {kind}",
            issues=(Issue(message=missing, category="format", severity=5, rule=kind.lower()),),
            suggestions=(advice,),
        )
    position = max(0, min(problem.position, len(text) - 1))
    before = text[: problem.position]
    line, column = before.count("\n") + 1, problem.position - before.rfind("\n")
    reason = f"invalid {kind} at line {line} column {column}: {problem.reason}"
    start, end = (position, position + 1) if fix is None else (0, len(text))
    issue = Issue.at(
        text, start, end, reason, category="format", severity=5, rule=kind.lower(), fix=fix,
        safe=fix is not None,
    )  # fmt: skip
    return ValidationResult(
        passed=False,
        message=reason,
        score=0.4 * problem.position / len(text) if fix is None else 0.5,
        issues=(issue,),
        suggestions=(advice,),
    )


def schema_result(
    kind: str,
    schema: Mapping[str, object] | None,
    value: Json,
    text: str,
    locate: Callable[[Path], Span | None],
) -> ValidationResult:
    """Passed, or one issue for each thing in which the value differs from its schema.

    `locate` finds the place of a value by its path.
    """
    if schema is None:
        return ValidationResult(passed=True, message=f"valid {kind}")
    try:
        wrong = violations(schema, value)
    except TimeoutError:
        return ValidationResult(
            passed=False,
            message=f"valid {kind}, but the schema took too long to check",
            issues=(Issue(message="the schema took too long", category="format", rule="schema"),),
            suggestions=("simplify the schema and its patterns",),
        )
    except ValueError as error:
        return ValidationResult(passed=False, message=f"valid {kind}, but {error}")
    if not wrong:
        return ValidationResult(passed=True, message=f"valid {kind} that fits the schema")
    count = f"{len(wrong)}{' or more' if len(wrong) == VIOLATION_LIMIT else ''}"
    return ValidationResult(
        passed=False,
        message=f"valid {kind} that breaks its schema in {count} "
        f"{'place' if len(wrong) == 1 else 'places'}: {wrong[0].where}: {wrong[0].reason}",
        score=0.5 + 0.5 / (1 + len(wrong)),
        issues=tuple(_issue(text, violation, locate) for violation in wrong),
        suggestions=tuple(
            f"correct {violation.where}: {violation.reason}" for violation in wrong[:5]
        ),
    )


def _issue(text: str, violation: Violation, locate: Callable[[Path], Span | None]) -> Issue:
    message = f"{violation.where}: {violation.reason}"
    span = locate(violation.path)
    return Issue.about(text, span, message, category="format", severity=4, rule="schema")
