"""Numbers, URLs, quotes, code and names that a rewrite must keep.

Of each kind one function lists what an original contains, as a mapping from the form that is
compared to the form that is shown, and another gives that in which a rewritten text has a form.
"""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from pydantic import model_validator

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text import prose
from sifaka.text.markdown import code_spans
from sifaka.text.prose import blanked, cut_line, sentences
from sifaka.text.tables import patterns_of
from sifaka.validators.spec import ISSUE_LIMIT, LimitedSpec, Name

Kind = Literal["numbers", "urls", "quotes", "code", "names"]
Wanted = dict[str, str]

_PATTERNS = patterns_of(__file__, "preserve")
_SAME = str.maketrans("“”„«»‘’‚−–\u00a0\u202f", '"""""\'\'\'--  ')


def _numbers_in(text: str) -> Wanted:
    """Numbers outside URLs, code and the markers of ordered lists."""
    hidden = blanked(text, (*prose.urls(text), *code_spans(text)))
    return _all_numbers(
        _PATTERNS["list_marker"].sub(lambda match: " " * len(match.group()), hidden)
    )


def _all_numbers(text: str) -> Wanted:
    """All numbers by their digits: 1,000 is 1000, and 1.50 is not 1.5.

    Digits of all scripts are equal, and a number may have moved into a URL, code or a list marker.
    """
    return {_number(match.group()): match.group() for match in _PATTERNS["number"].finditer(text)}


def _number(token: str) -> str:
    digits = "".join(str(unicodedata.digit(each, each)) for each in token.replace("−", "-"))
    is_grouped = re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits) is not None
    return re.sub("," if is_grouped else r"[’'\u00a0\u202f\u2009]", "", digits)


def _urls_in(text: str) -> Wanted:
    """URLs as `sifaka.text.prose` finds them, compared but for a slash at the end."""
    return {url.rstrip("/"): url for url in (text[start:end] for start, end in prose.urls(text))}


def _quotes_in(text: str) -> Wanted:
    """The quotations in double quotation marks of any style, outside code."""
    quotes = _PATTERNS["quote"].finditer(blanked(text, code_spans(text)))
    quoted = (match[match.lastindex or 0] for match in quotes)
    return {key: quote for quote in quoted if (key := _flatten(quote).strip(" .,;:!?"))}


def _flatten(text: str) -> str:
    """A text in one line, with one kind of quotation marks and dashes."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_SAME).split())


def _code_in(text: str) -> Wanted:
    """Fenced blocks and inline code, without their marks."""
    pieces = (text[start:end] for start, end in code_spans(text))
    return {key: piece for piece in pieces if (key := _code_body(piece))}


def _code_body(piece: str) -> str:
    """A piece of code without its marks, white space aside."""
    if piece.startswith(("```", "~~~")):
        lines = piece.splitlines()[1:]
        if lines and not lines[-1].strip("`~ \t"):
            lines.pop()
        return _collapse_spaces(" ".join(lines))
    return _collapse_spaces(piece.strip("`"))


def _collapse_spaces(text: str) -> str:
    """Code that lost its marks is still there; that is for a format check to judge."""
    return " ".join(text.split())


def _names_in(text: str) -> Wanted:
    """Capitalised words inside sentences, acronyms and CamelCase: a guess, for English."""
    hidden = blanked(text, (*prose.urls(text), *code_spans(text)))
    starts = {start for start, _ in sentences(hidden)}
    names: Wanted = {}
    for match in _PATTERNS["name"].finditer(hidden):
        word = match.group()
        before = hidden[max(0, match.start() - 2) : match.start()]
        opening = match.start() in starts or not before.strip() or before[-1] in '\n"“‘(*_#>-•'
        plain = word.istitle() or (word[0].isupper() and word[1:].islower())
        if not (before[-1:].isalnum() or word in {"I", "OK"} or (plain and opening)):
            names[word] = word
    return names


class _Kind(NamedTuple):
    singular: str
    found_in: Callable[[str], Wanted]
    kept_in: Callable[[str], Container[str]]


_KINDS: Mapping[Kind, _Kind] = {
    "numbers": _Kind("number", _numbers_in, _all_numbers),
    "urls": _Kind("URL", _urls_in, _urls_in),
    "quotes": _Kind("quote", _quotes_in, _flatten),
    "code": _Kind("code", _code_in, _collapse_spaces),
    "names": _Kind("name", _names_in, str),
}


class PreserveValidator(LimitedSpec):
    """Compares with the original, which the engine puts into `thought.metadata["original"]`.

    Everything of a kind that the original contains must be somewhere in the text; order and how
    often do not matter.
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
    def _check_kinds(self) -> "PreserveValidator":
        if not self._kinds():
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
        total, gone = _compare(original, thought.text, self._kinds())
        lost = [(kind, f"{_KINDS[kind].singular} {cut_line(span, 120)}") for kind, span in gone]
        return ValidationResult(
            passed=not lost,
            message=_summary([item for _, item in lost], total),
            score=1 - len(lost) / total if total else 1.0,
            issues=tuple(
                Issue(
                    message=f"the original's {item} is gone",
                    category="preserve",
                    severity=4,
                    rule=kind,
                )
                for kind, item in lost[:ISSUE_LIMIT]
            ),
            suggestions=tuple(f"put back the {item}" for _, item in lost[:10]),
        )

    def _kinds(self) -> list[Kind]:
        return [kind for kind in _KINDS if getattr(self, kind)]


def lost_spans(original: str, text: str) -> tuple[str, ...]:
    """The numbers, URLs, quotes, pieces of code and names of an original that a text has not."""
    return tuple(span for _, span in _compare(original, text, tuple(_KINDS))[1])


def _compare(original: str, text: str, kinds: Iterable[Kind]) -> tuple[int, list[tuple[Kind, str]]]:
    """The number of spans of these kinds in the original, and those that the text lacks."""
    total = 0
    lost: list[tuple[Kind, str]] = []
    for kind in kinds:
        wanted = _KINDS[kind].found_in(original)
        total += len(wanted)
        if wanted and original != text:
            kept = _KINDS[kind].kept_in(text)
            lost.extend((kind, span) for key, span in wanted.items() if key not in kept)
    return total, lost


def _summary(lost: Sequence[str], total: int) -> str:
    if not total:
        return "nothing in the original that has to survive"
    if not lost:
        return f"{total} of {total} kept"
    more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
    return f"{len(lost)} of {total} gone: {', '.join(lost[:5])}{more}"
