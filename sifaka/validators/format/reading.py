"""What the readers of formats share: how a text fails, and what of it is checked by a schema."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, time
from typing import cast

from sifaka.record.results import Issue, ValidationResult
from sifaka.text.prose import Span
from sifaka.text.tables import patterns_of, table
from sifaka.validators.format.schema import VIOLATION_LIMIT, Json, Path, violations
from sifaka.validators.spec import ISSUE_LIMIT

Schema = Mapping[str, object]
Locate = Callable[[Path], Span | None]
"""Finds the place of a value by its path; None where it is not known."""
DEPTH_LIMIT = 100
"""The deepest nesting of a text where a reader has no limit of its own."""
_NEWLINE = re.compile(r"\r\n?|\n")
_FENCED = patterns_of(__file__, "fence")["whole"]
_REASONS: Mapping[str, str] = table(__file__, "patterns")["reasons"]


class Malformed(ValueError):
    """The text is not of the format.

    Args:
        reason: What is wrong.
        position: The offset at which it is.
        more: What is wrong elsewhere: offsets and reasons.
        fix: What may replace the whole text.
    """

    def __init__(
        self,
        reason: str,
        position: int = 0,
        more: Sequence[tuple[int, str]] = (),
        fix: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.position, self.more, self.fix = reason, position, more, fix


def refuse(faults: Iterable[tuple[int, str]]) -> None:
    """Raise Malformed for what was found, offsets and reasons, if anything was."""
    if ordered := sorted(faults):
        (position, reason), *more = ordered
        raise Malformed(reason, position, more)


def plain(reason: str) -> str:
    """What a reader says, in plainer words where there are any."""
    return _REASONS.get(reason, reason[:1].lower() + reason[1:])


def line_starts(text: str) -> Sequence[int]:
    """The offset of each line, and of the end: a line ends with a newline of any system."""
    return [0, *(match.end() for match in _NEWLINE.finditer(text)), len(text)]


def no_place(path: Path) -> None:
    """The place of a value of which none is known."""


def as_json(value: Json) -> Json:
    """A value as JSON has it: keys are strings, and dates too."""
    if isinstance(value, dict):
        members = cast("dict[object, Json]", value).items()
        return {key if isinstance(key, str) else str(key): as_json(item) for key, item in members}
    if isinstance(value, list | tuple | set):
        return [as_json(item) for item in cast("list[Json]", value)]
    return value.isoformat() if isinstance(value, date | time) else value


def checked(
    kind: str,
    text: str,
    schema: Schema | None,
    read: Callable[[str, Schema | None], tuple[Json, Locate]],
) -> ValidationResult:
    """The result of a text that `read` reads, or finds to be `Malformed`.

    The value that it reads, and the places in it, count where there is a schema.
    """
    try:
        if not text.strip():
            raise Malformed("the text is empty")
        fenced = _FENCED.fullmatch(text)
        if fenced and checked(kind, fenced["content"], schema, read).passed:
            raise Malformed("there is a code fence around it", fix=fenced["content"])
        value, locate = read(text, schema)
    except Malformed as problem:
        return _report_malformed(kind, text, problem)
    if schema is None:
        return ValidationResult(passed=True, message=f"valid {kind}")
    return _check_by_schema(kind, schema, value, text, locate)


def _report_malformed(kind: str, text: str, problem: Malformed) -> ValidationResult:
    """The failure at the lines and columns of the problem.

    With a fix, which replaces the whole text, the issue is about all of it.
    """
    fix, issues = problem.fix, list[Issue]()
    for at, what in ((problem.position, problem.reason), *problem.more[: ISSUE_LIMIT - 1]):
        position = max(0, min(at, len(text) - 1))
        line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
        reason = f"invalid {kind} at line {line} column {column}: {what}"
        start, end = (position, min(position + 1, len(text))) if fix is None else (0, len(text))
        issues.append(
            Issue.at(
                text, start, end, reason, category="format", severity=5, rule=kind.lower(),
                fix=fix, safe=fix is not None,
            )
        )  # fmt: skip
    more = f" (and {len(problem.more)} more)" if problem.more else ""
    advice = "correct the syntax at that place" if fix is None else "apply the repair"
    if fix is None and not text[: problem.position].strip() and f"{text.lstrip()}x"[0].isalnum():
        advice = f"write the {kind} alone, with no text around it"
    return ValidationResult(
        passed=False,
        message=issues[0].message + more,
        score=0.4 * min(1, problem.position / max(1, len(text))) if fix is None else 0.5,
        issues=tuple(issues),
        suggestions=(advice,),
    )


def _check_by_schema(
    kind: str, schema: Schema, value: Json, text: str, locate: Locate
) -> ValidationResult:
    """Passed, or one issue for each thing in which the value differs from its schema."""
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
        issues=tuple(
            Issue.about(
                text, locate(each.path), f"{each.where}: {each.reason}",
                category="format", severity=4, rule="schema",
            )
            for each in wrong
        ),
        suggestions=tuple(f"correct {each.where}" for each in wrong[:5]),
    )  # fmt: skip
