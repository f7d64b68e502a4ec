"""Literal terms that a text must contain, and terms that it must not."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field, model_validator

from sifaka.record.results import Issue, ValidationResult
from sifaka.record.thought import Thought
from sifaka.text.markdown import code_spans
from sifaka.text.prose import Span, blanked, urls
from sifaka.validators.spec import ISSUE_LIMIT, Name, Published, Spec

_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Scripts that put no space between words: there is no word boundary to ask for."""
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f"
"""Combining marks: they belong to the letter before, though `\\w` does not match them."""

_ASCII_RUN = re.compile(r"[a-z0-9]+")
_LETTER = rf"(?![{_SPACELESS}])\w"
_NO_WORD_BEFORE = rf"(?<!{_LETTER})"
_NO_WORD_AFTER = rf"(?!{_LETTER}|[{_MARKS}])"


@lru_cache(maxsize=1024)
def term_pattern(term: str, *, case_sensitive: bool, whole_word: bool) -> re.Pattern[str]:
    """The pattern that finds a term.

    The term is literal, but any white space in it matches any other (a line may break there), a
    straight apostrophe matches a curly one, and composed characters match decomposed ones.
    """
    forms = {unicodedata.normalize(form, term) for form in ("NFC", "NFD")} | {term}
    literal = "|".join(
        r"\s+".join(_escape_term(part) for part in form.split()) for form in sorted(forms)
    )
    before = _NO_WORD_BEFORE if whole_word and _takes_boundary(term[0]) else ""
    after = _NO_WORD_AFTER if whole_word and _takes_boundary(term[-1]) else ""
    return re.compile(f"{before}(?:{literal}){after}", 0 if case_sensitive else re.IGNORECASE)


def may_contain(folded: str, term: str) -> bool:
    """Check if a search is worth its time: far quicker than one, and a no is always right.

    Args:
        folded: The text, `casefold`ed once for all terms.
        term: The term to search for.
    """
    # Composed, because a letter that a text may compose with its mark must not be in a run.
    runs: list[str] = _ASCII_RUN.findall(unicodedata.normalize("NFC", term).casefold())
    return not runs or max(runs, key=len) in folded


def in_case_of(found: str, replacement: str, term: str) -> str:
    """The replacement in the case of what was found: ALL CAPS, a capital first, or as given."""
    if found == term or not replacement:
        return replacement
    if found.isupper() and sum(character.isalpha() for character in found) > 1:
        return replacement.upper()
    is_raised = found[0].isupper() and not term[0].isupper()
    return replacement[0].upper() + replacement[1:] if is_raised else replacement


def _escape_term(part: str) -> str:
    return re.escape(part).replace("'", "['’]").replace("’", "['’]").replace("['['’]]", "['’]")


def _takes_boundary(character: str) -> bool:
    return bool(re.match(rf"{_LETTER}|[{_MARKS}]", character))


COUNT_LIMIT = 200
"""The most terms of one list."""
TERM_LIMIT = 500
"""The most characters of one term."""


def _check_term(term: str) -> str:
    if not term.strip():
        raise ValueError("a term is empty")
    if len(term) > TERM_LIMIT:
        raise ValueError(f"a term has {len(term)} characters, at most {TERM_LIMIT}")
    return term.strip()


Term = Annotated[str, AfterValidator(_check_term)]


class Replacement(Published):
    """A prohibited term and what to write instead; the empty string deletes it."""

    term: Term
    replacement: str


class ContentValidator(Spec):
    """Looks for literal terms (`sifaka.validators.content` says how they match).

    `required` is the list of required terms in the constructor and on the wire; as an attribute it
    says, as with every validator, whether the result is binding: `must_pass` sets that, and a spec
    with a boolean under `required` is understood.
    """

    type: Literal["content"] = "content"
    name: Name = "content"
    required_terms: Annotated[Sequence[Term], AfterValidator(tuple)] = Field(
        default=(), alias="required", max_length=COUNT_LIMIT
    )
    prohibited: Annotated[Sequence[Term | Replacement], AfterValidator(tuple)] = Field(
        default=(), max_length=COUNT_LIMIT
    )
    case_sensitive: bool = False
    whole_word: bool = True
    must_pass: bool = True

    @property
    def required(self) -> bool:
        """True when a text that fails is not done."""
        return self.must_pass

    @model_validator(mode="before")
    @classmethod
    def _move_flag(cls, data: object) -> object:
        if isinstance(data, Mapping):
            options = dict(cast("Mapping[str, object]", data))
            if isinstance(options.get("required"), bool):
                options.setdefault("must_pass", options.pop("required"))
            return options
        return data

    @model_validator(mode="after")
    def _check_terms(self) -> "ContentValidator":
        if not self.required_terms and not self.prohibited:
            raise ValueError("give at least one term in required or prohibited")
        self.check_allows(self.required_terms)
        for banned, entry in product(map(_banned_term, self.prohibited), self.prohibited):
            if isinstance(entry, Replacement) and self._has_term(banned, entry.replacement):
                raise ValueError(
                    f"the replacement {entry.replacement!r} contains prohibited {banned!r}"
                )
        return self

    def check_allows(self, terms: Sequence[str]) -> None:
        """Pass terms that a text may have.

        Raises:
            ValueError: A prohibited term is in one of them.
        """
        for banned, wanted in product(map(_banned_term, self.prohibited), terms):
            if self._has_term(banned, wanted):
                raise ValueError(f"required {wanted!r} cannot be met: {banned!r} is prohibited")

    def validate(self, thought: Thought) -> ValidationResult:
        """Search for every term; each occurrence of a prohibited one is an issue."""
        text = thought.text
        folded = text.casefold()
        missing = [
            term
            for term in self.required_terms
            if not (may_contain(folded, term) and self._has_term(term, text))
        ]
        matches = self._prohibited_in(text, folded)
        counts = Counter(_banned_term(entry) for _, entry in matches)
        issues = [
            Issue(message=f"does not mention {term!r}", category="content", rule="required")
            for term in missing
        ]
        issues += _occurrences(text, matches[:ISSUE_LIMIT])
        total = len(self.required_terms) + len(self.prohibited)
        lost = len(missing) + sum(count / (1 + count) for count in counts.values())
        return ValidationResult(
            passed=not issues,
            message=_summary(self, missing, counts),
            score=1 - lost / total,
            issues=tuple(issues),
            suggestions=(
                *(f"mention {term!r}" for term in missing),
                *(_advice(entry) for entry in self.prohibited if _banned_term(entry) in counts),
            ),
        )

    def _has_term(self, term: str, text: str) -> bool:
        return next(self._find_term(term, text), None) is not None

    def _find_term(self, term: str, text: str) -> Iterator[Span]:
        pattern = term_pattern(term, case_sensitive=self.case_sensitive, whole_word=self.whole_word)
        return (match.span() for match in pattern.finditer(text))

    def _prohibited_in(self, text: str, folded: str) -> list[tuple[Span, str | Replacement]]:
        """Every occurrence in text order; one inside a longer prohibited term counts once."""
        matches = [
            (span, entry)
            for entry in self.prohibited
            if may_contain(folded, _banned_term(entry))
            for span in self._find_term(_banned_term(entry), text)
        ]
        matches.sort(key=lambda match: (match[0][0], -match[0][1]))
        outermost: list[tuple[Span, str | Replacement]] = []
        for span, entry in matches:
            if not outermost or span[0] >= outermost[-1][0][1]:
                outermost.append((span, entry))
        return outermost


def _banned_term(entry: str | Replacement) -> str:
    return entry.term if isinstance(entry, Replacement) else entry


def _occurrences(text: str, matches: Sequence[tuple[Span, str | Replacement]]) -> Iterator[Issue]:
    replaceable = any(isinstance(entry, Replacement) for _, entry in matches)
    prose = blanked(text, code_spans(text) + urls(text)) if replaceable else text
    for (start, end), entry in matches:
        about: dict[str, Any] = {"category": "content", "rule": "prohibited"}
        message = f"{_banned_term(entry)!r} is prohibited"
        if isinstance(entry, Replacement):
            message += f"; write {entry.replacement!r}" if entry.replacement else "; leave it out"
            fix = in_case_of(text[start:end], entry.replacement, entry.term)
            # A term in a URL or in code may be part of something that works only as it is.
            safe = prose[start] == text[start] and bool(fix or not _starts_sentence(text, start))
            about |= {"fix": fix, "safe": safe}
            start, end = (start, end) if fix else _include_space(text, start, end)
        yield Issue.at(text, start, end, message, **about)


def _starts_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 40) : start].rstrip(" \t\"'“‘(*_")
    return not before or before[-1] in ".!?…:\n\r"


def _include_space(text: str, start: int, end: int) -> Span:
    """The span and one of the spaces around it, so that a deletion does not leave two."""
    if text[end : end + 1] == " " and (start == 0 or text[start - 1].isspace()):
        return start, end + 1
    is_before = start > 0 and text[start - 1] == " " and not text[end : end + 1].isalnum()
    return start - is_before, end


def _summary(spec: ContentValidator, missing: Sequence[str], counts: Mapping[str, int]) -> str:
    wanted = len(spec.required_terms)
    wrong = (
        f"{len(missing)} missing: {_list_terms(missing)}" if missing else "",
        f"{sum(counts.values())} prohibited: {_list_terms(counts)}" if counts else "",
    )
    well = (
        f"{wanted} of {wanted} required terms" if wanted else "",
        "no prohibited term" if spec.prohibited else "",
    )
    return "; ".join(filter(None, wrong)) or ", ".join(filter(None, well))


def _advice(entry: str | Replacement) -> str:
    if isinstance(entry, Replacement) and entry.replacement:
        return f"write {entry.replacement!r} instead of {entry.term!r}"
    return f"remove or reword {_banned_term(entry)!r}"


def _list_terms(items: Collection[str]) -> str:
    terms = [repr(item if len(item) <= 60 else item[:59] + "…") for item in list(items)[:5]]
    return ", ".join(terms) + (f" and {len(items) - 5} more" if len(items) > 5 else "")
