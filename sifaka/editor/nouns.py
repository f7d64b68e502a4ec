"""Nouns in the wrong number, and nouns without their article."""

import re
from collections.abc import Iterator, Mapping

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.record.results import Issue
from sifaka.text.tables import words_of

_WORDS = words_of(__file__, "nouns")
_IRREGULAR = {
    "child": "children",
    "man": "men",
    "woman": "women",
    "knife": "knives",
    "wife": "wives",
    "leaf": "leaves",
    "tooth": "teeth",
    "foot": "feet",
    "mouse": "mice",
    "potato": "potatoes",
    "tomato": "tomatoes",
}


def _counted(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match["noun"] in _WORDS["nouns"] - (_WORDS["units"] if " of " in match.group() else set()):
        yield parsed.instead(match.span("noun"), _plural(match["noun"]), "plural")


def _mass(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if not match["many"]:
        yield parsed.instead(match.span("noun"), match["one"], "plural")


def _this(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match["of"] in SINGULARS and match["verb"] not in {"is", "was"}:
        fix = {"this": "these", "that": "those"}[match["noun"].lower()]
        # "It is round, that chairs are used": a conjunction as well.
        safe = match["verb"] is not None and fix == "these"
        yield parsed.instead(match.span("noun"), fix, "this_these", safe=safe)


def _these(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match["of"] in _WORDS["nouns"]:
        fix = {"these": "this", "those": "that"}[match["noun"].lower()]
        safe = parsed.word_after(match.end()) in {"is", "was", "has"}
        yield parsed.instead(match.span("noun"), fix, "this_these", safe=safe)


def _no_article(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    article = "an" if match["noun"][0] in "aeiou" else "a"
    yield parsed.instead(match.span("noun"), f"{article} {match['noun']}", "missing_article")


def _plural(noun: str) -> str:
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


SINGULARS: Mapping[str, str] = {_plural(noun): noun for noun in sorted(_WORDS["nouns"])}
"""The known nouns by their plurals."""
nouns = PatternRule.of(
    "nouns", counted=_counted, mass=_mass, this=_this, these=_these, no_article=_no_article
)
"""Nouns in the wrong number, and missing articles."""
