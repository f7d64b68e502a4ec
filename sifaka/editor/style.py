"""Stock prose: phrases and forms that are in many texts because they came first to mind.

They are judged, and never who wrote them: detectors of machines' texts are unfair to people who
write in a second language (Liang et al. 2023, arXiv 2304.02819). The rules are in `style.toml`.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from math import log2
from statistics import mean, pstdev

from sifaka.editor.parsed_text import ParsedText
from sifaka.record.results import Issue
from sifaka.text.prose import Span, blanked, sentences
from sifaka.text.tables import patterns_of, table

HALF = 6.0
"""Points per 100 words at which the score has fallen to a half."""
USUAL = 0.75
"""The score below which few texts of people are; the table is in docs/quality.md."""
SHORT = 60
"""Words below which a text has no score."""
_VERSE = 60
"""Characters of a long verse."""
_PATTERNS = patterns_of(__file__, "style")


def style(parsed: ParsedText) -> Iterator[Issue]:
    """Every place of stock prose; a matter of taste, without a fix."""
    for habit in habits(Prose.of(parsed)):
        for span in habit.places:
            issue = _make_issue(parsed.text, habit, span)
            yield issue.model_copy(update={"message": f'"{issue.quote}" {issue.message}'})


def worst_habits(
    parsed: ParsedText, most: int, kept: Collection[tuple[str | None, int | None]] | None = None
) -> tuple[tuple[Issue, ...], float | None]:
    """The first place of each of the worst kinds of stock prose, in text order, and the score.

    The score is 0 to 1, and None of a text of less than 60 words.

    Args:
        parsed: The text.
        most: The most kinds.
        kept: The rules and starts of the findings of `style` that count; all of them when None.
    """
    prose = Prose.of(parsed)
    ranked = habits(prose, kept)
    worst = (
        _make_issue(parsed.text, habit, habit.places[0], len(habit.places) - 1)
        for habit in ranked[:most]
    )
    score = round(score_of(ranked, prose.words), 2) if prose.words >= SHORT else None
    return tuple(sorted(worst, key=lambda issue: issue.start or 0)), score


# --- the rules ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the findings of some rules have in common."""

    why: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleRule:
    """Phrases, or a form that is counted; with neither, the evenness of sentences."""

    name: str
    kind: str
    weight: float
    phrases: str = ""
    """First words and what follows them, one a line, as `style.toml` explains."""
    before: str = ""
    """What phrases follow: `comma`, `start` (of a sentence), or anything."""
    form: str = ""
    """The expression that is counted."""
    of_words: bool = False
    """True of a form that is counted in 100 words of the prose."""
    above: float = 0.0
    """What is usual of a form."""
    measured: date | None = None
    """The day on which its weight was last measured on texts of models and of people."""
    found: tuple[str, ...] = ()
    """Texts in which it finds something."""
    missed: tuple[str, ...] = ()
    """Texts in which it finds nothing."""


@cache
def kinds() -> Mapping[str, Kind]:
    """The kinds of findings by their names."""
    return {name: Kind(**kind) for name, kind in table(__file__, "style")["kinds"].items()}


@cache
def rules() -> Sequence[StyleRule]:
    """Every rule, from the heaviest to the lightest."""
    loaded = (StyleRule(**rule) for rule in table(__file__, "style")["rule"])
    return sorted(loaded, key=lambda rule: -rule.weight)


@cache
def _index_phrases() -> Mapping[str, Sequence[tuple[StyleRule, str]]]:
    """What may follow each word that a phrase begins with, from the heaviest rule on."""
    index: dict[str, list[tuple[StyleRule, str]]] = defaultdict(list)
    for rule in rules():
        for line in rule.phrases.replace("'", "['’]").splitlines():
            words, sign, rest = re.split(r"( >>? |$)", line, maxsplit=1)
            gap = r"\s{1,3}" if sign == " > " else ""
            for word in words.replace("['’]", "'").split():
                index[word].append((rule, rf"{gap}(?:{rest})(?!\w)"))
    return index


# Most texts hold few of the first words: a pattern is made when it is first looked at.
@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# --- the text ---


@dataclass(frozen=True, eq=False)
class Prose:
    """A text without what its writer did not write: quotes, code, verses, other languages."""

    raw: str
    text: str
    """Of the same length, blank where the words are not the writer's own."""

    @classmethod
    def of(cls, parsed: ParsedText) -> "Prose":
        """The prose of a text."""
        text = parsed.text
        quotes = (match.span() for match in _PATTERNS["quote"].finditer(text))
        stanzas = _PATTERNS["stanza"].finditer(text + "\n")
        verses = (match.span() for match in stanzas if _is_verse(match.group()))
        hidden = (*parsed.reserved.spans, *quotes, *verses)
        return cls(text, _PATTERNS["wrap"].sub(" ", blanked(parsed.prose, hidden)))

    @cached_property
    def tokens(self) -> list[tuple[str, int, int]]:
        """The words that are read, in small letters, each with its place."""
        return [
            (match.group().lower().replace("’", "'"), *match.span())
            for match in _PATTERNS["word"].finditer(self.text)
        ]

    @property
    def words(self) -> int:
        """The number of words that are read."""
        return len(self.tokens)

    @cached_property
    def starts(self) -> frozenset[int]:
        """Where sentences begin, after the marks of lists and headings."""
        words = (_PATTERNS["first"].search(self.text, *sentence) for sentence in self.sentences)
        lines = _PATTERNS["line"].finditer(self.text)
        return frozenset(match.start() for match in (*words, *lines) if match)

    @cached_property
    def sentences(self) -> Sequence[Span]:
        """The sentences that are read."""
        return sentences(self.text)


def _is_verse(lines: str) -> bool:
    """True for lines that are shorter than wrapped ones, or of which few end a sentence."""
    is_short = max(map(len, lines.split("\n"))) <= _VERSE
    return is_short or len(_PATTERNS["verse_end"].findall(lines)) * 2 < lines.count("\n")


# --- what is found ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Habit:
    """What was found of one kind."""

    kind: str
    points: float
    places: Sequence[Span]
    """From the heaviest rule to the lightest, those of one rule in text order."""


def habits(
    prose: Prose, kept: Collection[tuple[str | None, int | None]] | None = None
) -> list[Habit]:
    """What is found in a text, by kind, from the heaviest to the lightest; see `worst_habits`."""
    matches = places_of(prose)
    points: dict[str, float] = defaultdict(float)
    places: dict[str, list[Span]] = defaultdict(list)
    for rule in rules():
        spans = matches.get(rule.name, ())
        if kept is not None:
            spans = [span for span in spans if (f"style.{rule.kind}", span[0]) in kept]
        if spans:
            # The second one says less than the first one did, and a form has counted already.
            points[rule.kind] += rule.weight * (log2(1 + len(spans)) if rule.phrases else 1)
            places[rule.kind] += spans
    every = (Habit(kind=kind, points=points[kind], places=places[kind]) for kind in points)
    return sorted(every, key=lambda habit: -habit.points)


def score_of(found: Sequence[Habit], words: int) -> float:
    """0 for a text of nothing but stock prose, 1 for one without any."""
    per_word = sum(habit.points for habit in found) / (max(words, SHORT) + 100)
    return HALF / (HALF + 100 * per_word)


def places_of(prose: Prose) -> Mapping[str, Sequence[Span]]:
    """What each rule finds, in text order."""
    places: dict[str, list[Span]] = defaultdict(list)
    first, end = _index_phrases(), 0
    for word, start, stop in prose.tokens:
        for rule, rest in first.get(word, ()) if start >= end else ():
            match = _compile(rest).match(prose.text, stop)
            if match and _is_preceded(rule.before, prose, start):
                end = match.end()
                places[rule.name].append((start, end))
                break
    for rule in rules():
        if not rule.phrases:
            places[rule.name] += _find_form(rule, prose) if rule.form else _find_even(rule, prose)
    return places


def _is_preceded(before: str, prose: Prose, start: int) -> bool:
    if before == "comma":
        return prose.text[max(0, start - 2) : start].strip() == ","
    return not before or start in prose.starts


def _find_form(rule: StyleRule, prose: Prose) -> Sequence[Span]:
    """The places of a form, where there are more of them than is usual."""
    usual = max(1, rule.above * prose.words / 100) if rule.of_words else rule.above
    text = prose.text if rule.of_words else prose.raw
    spans = [match.span() for match in re.finditer(rule.form, text)]
    return spans if len(spans) > usual else ()


def _find_even(rule: StyleRule, prose: Prose) -> Sequence[Span]:
    """The first whole sentence, where eight or more have lengths that differ little.

    The evenness is 1 less the deviation of their lengths as a part of the mean.
    """
    ends = [end for _, end in prose.sentences]
    counts = Counter(bisect_left(ends, stop) for _, _, stop in prose.tokens)
    lengths = [length for length in counts.values() if length > 2]
    if len(lengths) < 8 or 1 - pstdev(lengths) / mean(lengths) <= rule.above:
        return ()
    whole = (span for span in prose.sentences if prose.text[span[1] - 1] in ".!?")
    return [next(whole, prose.sentences[0])]


def _make_issue(text: str, habit: Habit, span: Span, others: int = 0) -> Issue:
    """The finding in one place: what is wrong with it, and what to do.

    Args:
        text: The text.
        habit: What was found.
        span: The place.
        others: The number of other places that it stands for.
    """
    kind = kinds()[habit.kind]
    more = f", here and {others} more" if others else ""
    message = f"{kind.why}{more}. {kind.advice}"
    rule = f"style.{habit.kind}"
    return Issue.at(text, *span, message, category="style", severity=2, rule=rule)
