"""Numbers, URLs, quotes, code and names that a rewrite must keep."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import ClassVar, Literal, NamedTuple

from pydantic import model_validator

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators import verbatim
from sifaka.validators.spec import ISSUE_LIMIT, LimitedSpec, Name

Kind = Literal["numbers", "urls", "quotes", "code", "names"]


class _Kind(NamedTuple):
    singular: str
    found_in: Callable[[str], verbatim.Wanted]
    kept_by: Callable[[str], verbatim.Keeps]


_KINDS: Mapping[Kind, _Kind] = {
    "numbers": _Kind("number", verbatim.numbers_in, verbatim.keeps_numbers),
    "urls": _Kind("URL", verbatim.urls_in, verbatim.keeps_urls),
    "quotes": _Kind("quote", verbatim.quotes_in, verbatim.keeps_quotes),
    "code": _Kind("code", verbatim.code_in, verbatim.keeps_code),
    "names": _Kind("name", verbatim.names_in, verbatim.keeps_names),
}


class PreserveValidator(LimitedSpec):
    """Compares with the original, which the engine puts into `thought.metadata["original"]`.

    Everything of a kind that the original contains must be somewhere in the text; order and how
    often do not matter. `sifaka.validators.verbatim` says what counts as the same.
    """

    schema_note: ClassVar[str] = "what must survive: all but names, unless false"

    type: Literal["preserve"] = "preserve"
    name: Name = "preserve"
    numbers: bool = True
    urls: bool = True
    quotes: bool = True
    code: bool = True
    names: bool = False

    @model_validator(mode="after")
    def _asks_for_something(self) -> "PreserveValidator":
        if not any(self._kinds()):
            raise ValueError("give at least one of numbers, urls, quotes, code, names")
        return self

    def check(self, thought: Thought) -> ValidationResult:
        """Look for what the original has and the text has not."""
        original = thought.metadata.get("original")
        if not isinstance(original, str):
            return ValidationResult(
                passed=False,
                message="no original text to compare with",
                suggestions=("give the original",),
            )
        total, gone = _lost(original, thought.text, self._kinds())
        lost: list[tuple[Kind, str]] = [(kind, _brief(shown)) for kind, shown in gone]
        return ValidationResult(
            passed=not lost,
            message=_summary(lost, total),
            score=1 - len(lost) / total if total else 1.0,
            issues=tuple(
                Issue(
                    message=f"the original's {_KINDS[kind].singular} {shown} is gone",
                    category="preserve",
                    severity=4,
                    rule=kind,
                )
                for kind, shown in lost[:ISSUE_LIMIT]
            ),
            suggestions=tuple(
                f"put back the {_KINDS[kind].singular} {shown}" for kind, shown in lost[:10]
            ),
        )

    def _kinds(self) -> Iterator[Kind]:
        return (kind for kind in _KINDS if getattr(self, kind))


def lost_spans(original: str, text: str) -> tuple[str, ...]:
    """The numbers, URLs, quotes, pieces of code and names of an original that a text has not."""
    return tuple(shown for _, shown in _lost(original, text, tuple(_KINDS))[1])


def _lost(original: str, text: str, kinds: Iterable[Kind]) -> tuple[int, list[tuple[Kind, str]]]:
    """The number of spans of these kinds in the original, and those that the text lacks."""
    total = 0
    lost: list[tuple[Kind, str]] = []
    for kind in kinds:
        wanted = _KINDS[kind].found_in(original)
        total += len(wanted)
        if wanted and original != text:
            keeps = _KINDS[kind].kept_by(text)
            lost.extend((kind, shown) for key, shown in wanted.items() if not keeps(key))
    return total, lost


def _brief(shown: str) -> str:
    line = " ".join(shown.split())
    return line if len(line) <= 120 else line[:119] + "…"


def _summary(lost: list[tuple[Kind, str]], total: int) -> str:
    if not total:
        return "nothing in the original that has to survive"
    if not lost:
        return f"{total} of {total} kept"
    listed = ", ".join(f"{_KINDS[kind].singular} {shown}" for kind, shown in lost[:5])
    more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
    return f"{len(lost)} of {total} gone: {listed}{more}"
