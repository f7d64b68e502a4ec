"""Screens: what finding one of the explicit wordings of `screens.toml` amounts to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from typing import NamedTuple

from sifaka.classifiers.english import unread
from sifaka.classifiers.protocol import NONE_FOUND, UNKNOWN, Classification
from sifaka.record.results import Issue
from sifaka.text.markdown import code_spans
from sifaka.text.prose import blanked, urls
from sifaka.text.tables import Row, patterns_of, table

EVIDENCE_LIMIT = 200
"""The most places one classification points at; all of them count for its confidence."""
NOTHING_FOUND = 0.2
"""Confidence of a screen that found nothing: of what is paraphrased, it sees 0 to 20 in 100."""
MENTIONED = 0.5
"""The factor of a weight when the words are only quoted, denied or reported."""
_PATTERNS = patterns_of(__file__, "screen")


class Rule(NamedTuple):
    """One kind of wording."""

    name: str
    pattern: str
    """A regular expression; upper and lower case are the same unless it says `(?-i:...)`."""
    message: str
    """The message about a place; `{quote}` stands for the words found."""
    severity: int
    weight: float
    """The certainty that one place gives the label, 0 to 1."""


class Occurrence(NamedTuple):
    """One place of a text where a rule fired."""

    start: int
    end: int
    rule: Rule
    mentioned: bool

    @property
    def weight(self) -> float:
        """The certainty that this place gives the label."""
        return self.rule.weight * (MENTIONED if self.mentioned else 1)


@dataclass(frozen=True)
class Screen:
    """Looks for explicit wordings outside URLs; finding none proves nothing, and says so."""

    name: str
    label: str
    """The label of a text with findings."""
    rules: tuple[Rule, ...]
    coverage: str = "explicit terms, English"
    denials: bool = True
    """True when denied or reported words count as mentioned only."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The label, `none found`, and `unknown` for a text that is not English."""
        return (self.label, NONE_FOUND, UNKNOWN)

    def classify(self, text: str) -> Classification:
        """The label, with every place that was found as evidence.

        What is quoted, denied or in code is found as well, with half the weight and two grades of
        severity less. Different wordings add up; the same wording twice does not. Nothing found in
        a text that is not English is `unknown`.
        """
        hits = list(self._find_matches(text))
        if not hits:
            return unread(text, self.coverage) or Classification(
                label=NONE_FOUND,
                confidence=NOTHING_FOUND,
                scores={NONE_FOUND: NOTHING_FOUND},
                coverage=self.coverage,
            )
        heaviest: dict[tuple[str, str], float] = {}
        for occurrence in hits:
            key = occurrence.rule.name, text[occurrence.start : occurrence.end].lower()
            heaviest[key] = max(heaviest.get(key, 0.0), occurrence.weight)
        doubt = prod(1 - weight for weight in heaviest.values())
        # Quotations alone do not add up to an accusation.
        most = 0.45 if all(occurrence.mentioned for occurrence in hits) else 0.98
        confidence = round(min(most, 1 - doubt), 2)
        return Classification(
            label=self.label,
            confidence=confidence,
            scores={self.label: confidence},
            coverage=self.coverage,
            evidence=tuple(self._issue(text, occurrence) for occurrence in hits[:EVIDENCE_LIMIT]),
        )

    def _find_matches(self, text: str) -> Iterator[Occurrence]:
        """Every match, outermost only."""
        prose = blanked(text, urls(text))
        matches = [
            (match.start(), -match.end(), number)
            for number, pattern in enumerate(_compile_rules(self.rules))
            for match in pattern.finditer(prose)
        ]
        if not matches:
            return
        quoted = (match.span() for match in _PATTERNS["quoted"].finditer(text))
        unquoted = blanked(text, (*quoted, *code_spans(text)))
        end = 0
        for start, negated_end, number in sorted(matches):
            if start >= end:
                end = -negated_end
                mentioned = unquoted[start] == " " or (self.denials and _is_reported(text, start))
                yield Occurrence(start, end, self.rules[number], mentioned)

    def _issue(self, text: str, occurrence: Occurrence) -> Issue:
        rule = occurrence.rule
        quote = text[occurrence.start : occurrence.end]
        message = rule.message.format(quote=repr(quote if len(quote) <= 60 else quote[:59] + "…"))
        return Issue.at(
            text,
            occurrence.start,
            occurrence.end,
            f"{message} (quoted)" if occurrence.mentioned else message,
            category=self.name,
            severity=max(1, rule.severity - 2) if occurrence.mentioned else rule.severity,
            rule=rule.name,
        )


@lru_cache(maxsize=32)
def _compile_rules(rules: tuple[Rule, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rule.pattern, re.IGNORECASE) for rule in rules)


def _is_reported(text: str, at: int) -> bool:
    """True when the words there are denied, or reported as another person's words or belief."""
    return bool(_PATTERNS["talked_about"].search(text[max(0, at - 80) : at].replace("’", "'")))


@cache
def screen(name: str) -> Screen:
    """The screen of a group of `screens.toml`."""
    group = dict(table(__file__, "screens")[name])
    rules = tuple(map(_make_rule, group.pop("rules")))
    return Screen(name, rules=rules, **group)


def _make_rule(row: Row) -> Rule:
    words = (_match_word(**listed) for listed in row.get("words", ()))
    pattern = "|".join((*words, *row.get("patterns", ())))
    return Rule(row["name"], pattern, row["message"], row["severity"], row["weight"])


_LOOKALIKES = {
    "a": "a@4*", "e": "e3*", "i": "i1!*", "o": "o0*", "s": "s$5*", "t": "t7*", "u": "uv*",
    "c": "c(k*", "h": "h*", "b": "b8*",
}  # fmt: skip
_LEAST_MASKED = 4
"""Letters of the shortest word that may be masked: `a*s` may as well be a product."""


def _disguise(stem: str) -> str:
    """A pattern for the stem that starts and ends on a word boundary of the stem's own letters.

    The first and last letter stand as they are or doubled, so that a row of stars is no word; the
    others may be look-alikes, stars, or repeated. Longer stems may also be spelled out
    with one and the same mark between the letters.
    """
    if len(stem) < _LEAST_MASKED:
        return stem
    masked = f"{stem[0]}+{''.join(map(_lookalike, stem[1:-1]))}{stem[-1]}+"
    spelled = rf"{stem[0]}(?P<by_{stem}>[.\-_ *]){f'(?P=by_{stem})'.join(stem[1:])}"
    return f"(?:{masked}|{spelled})"


def _match_word(stems: str, endings: str = "s?") -> str:
    """A pattern for whole words: any of the stems, disguised or not, with one of the endings."""
    ways = "|".join(map(_disguise, stems.split()))
    return rf"(?<![^\W_])(?:{ways})(?:{endings})(?![^\W_]|[*$@])"


def _lookalike(letter: str) -> str:
    return f"[{re.escape(_LOOKALIKES[letter])}]+" if letter in _LOOKALIKES else f"{letter}+"
