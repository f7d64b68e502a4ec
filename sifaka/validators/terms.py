"""Literal terms: how they are found in a text, and how a replacement takes their case."""

import re
import unicodedata
from functools import lru_cache

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
        r"\s+".join(_escaped(part) for part in form.split()) for form in sorted(forms)
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
    if found[0].isupper() and not term[0].isupper():
        return replacement[0].upper() + replacement[1:]
    return replacement


def _escaped(part: str) -> str:
    return re.escape(part).replace("'", "['’]").replace("’", "['’]").replace("['['’]]", "['’]")


def _takes_boundary(character: str) -> bool:
    return bool(re.match(rf"{_LETTER}|[{_MARKS}]", character))
