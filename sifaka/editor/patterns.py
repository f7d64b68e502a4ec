"""Rules made of patterns, each match of which is decided by itself.

Articles, capitals, the number of nouns, repeated words, and white space.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sifaka.editor.parsed_text import REACH, ParsedText
from sifaka.record.results import Issue
from sifaka.text.formats import Format
from sifaka.text.tables import Row, patterns_of, table, words_of

_PATTERNS = patterns_of(__file__, "around")
Decision = Callable[[ParsedText, re.Match[str]], Iterator[Issue]]

_WORD = r"\b"
_NAMED = re.compile(r"\?P<\w+>")
_HEAD = re.compile(r"\(\?(?::|<!)[^()]*\)(?![?*+{])")
"""A group that a pattern begins with."""


@dataclass(frozen=True, eq=False)
class PatternRule:
    """Finds the issues of the matches that a rule about English may examine."""

    decisions: Sequence[tuple[re.Pattern[str], Decision]]

    @classmethod
    def of(cls, group: str, **decide: Decision) -> "PatternRule":
        """The rule of a group of `patterns.toml`, by the functions that its rows name."""
        rows = table(__file__, "patterns")[group]
        named = (decide[row["decide"]] if "decide" in row else _replacing(row) for row in rows)
        return cls([(re.compile(r["pattern"]), d) for r, d in zip(rows, named, strict=True)])

    @cached_property
    def _at_words(self) -> re.Pattern[str]:
        """Where any pattern that begins at a word matches: one search for all of them.

        Those that begin with the same group share it.
        """
        rests: dict[str, list[str]] = {}
        for pattern, _ in self.decisions:
            if pattern.pattern.startswith(_WORD):
                rest = _NAMED.sub("?:", pattern.pattern.removeprefix(_WORD))
                head = found.group() if (found := _HEAD.match(rest)) else ""
                rests.setdefault(head, []).append(rest.removeprefix(head))
        ways = "|".join(f"{head}(?:{'|'.join(tails)})" for head, tails in rests.items())
        return re.compile(rf"{_WORD}(?=\w)(?={ways})")

    def __call__(self, parsed: ParsedText) -> Iterator[Issue]:
        """The issues, pattern by pattern."""
        text = parsed.text
        words: Sequence[int] | None = None
        for pattern, decide in self.decisions:
            matches: Iterable[re.Match[str] | None]
            if not pattern.pattern.startswith(_WORD):
                matches = pattern.finditer(text)
            else:
                if words is None:
                    words = [match.start() for match in self._at_words.finditer(text)]
                matches = [pattern.match(text, place) for place in words]
            end = 0
            for match in matches:
                if match is None or match.start() < end:
                    continue
                end = match.end()
                for issue in decide(parsed, match):
                    # Asked last: to know the reserved parts of a text is the dearer question.
                    if parsed.free(*match.span()):
                        yield issue


def _replacing(row: Row) -> Decision:
    """Puts the fix of a row in the place of the group `noun`."""

    def decide(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
        yield parsed.instead(match.span("noun"), match.expand(row["fix"]), row["rule"])

    return decide


# --- articles ---

_SOUNDS = patterns_of(__file__, "sounds")
_ARTICLES = {"consonant": "a", "vowel": "an", "onset": "a"}
_ARTICLE_WORDS = words_of(__file__, "articles")


def _article(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    article, word = match.groups()
    sound = _sound(word.lower())
    if sound is None or article.lower() == sound or _is_name(parsed, match):
        return
    fix = sound.capitalize() if article[0] == "A" else sound
    letter = "an" if word[0].lower() in "aeiou" else "a"
    agree = letter == sound or (sound == "a" and _is_said_you(parsed, match))
    message = f'"{sound}" before "{word}"'
    yield parsed.issue(match.span(1), fix, message, "article", safe=agree)


def _sound(word: str) -> str | None:
    """The article the word is spoken with; None when the spelling does not tell."""
    told = (name for name, sound in _SOUNDS.items() if sound.match(word))
    return _ARTICLES.get(next(told, ""))


def _is_said_you(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when the word, with its hyphenated rest, begins with the sound of `you` or `won`."""
    joined = _PATTERNS["hyphenated"].match(parsed.text, match.start(2))
    whole = joined.group() if joined else ""
    return not _ARTICLE_WORDS["said_you"].isdisjoint({match[2].lower(), whole.lower()})


def _is_name(parsed: ParsedText, match: re.Match[str]) -> bool:
    """True when the `a` names a variable, a record, a section."""
    article, word = match.groups()
    start = match.start()
    if article[0] == "A" and start not in parsed.sentence_starts:
        return True
    if word in _ARTICLE_WORDS["not_a_noun"] or _PATTERNS["plural"].search(word):
        return True
    return article.lower() == "a" and parsed.word_before(start) in _ARTICLE_WORDS["named"]


articles = PatternRule.of("articles", article=_article)
"""`a` before a vowel sound and `an` before a consonant sound.

Safe when letter and sound agree, a suggestion on the sound alone."""


# --- capitals ---

_CAPITAL_WORDS = words_of(__file__, "capitals")


def capitals(parsed: ParsedText) -> Iterator[Issue]:
    """Small letters where every style wants a capital: `I`, days, months, names, pronouns."""
    # `i` is a variable where no verb follows, unless the text has shown the habit.
    found = [match for match in _PATTERNS["i"].finditer(parsed.text) if parsed.free(*match.span())]
    if any(_is_person(parsed, match) for match in found):
        yield from (_capital(parsed, match.start(), match.start() + 1) for match in found)
    yield from _NAMES(parsed)


def _is_person(parsed: ParsedText, match: re.Match[str]) -> bool:
    if match["short"]:
        return True
    follows = parsed.word_after(match.end()).replace("’", "'")
    before = parsed.text[max(0, match.start() - 40) : match.start()]
    if _PATTERNS["relative"].search(before):
        return True
    if _PATTERNS["when"].search(before) and follows in {"was", "am"}:
        return bool(_PATTERNS["childhood"].match(parsed.text, match.end()))
    return follows in _CAPITAL_WORDS["verbs"]


def _capital_issues(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    for group, word in match.groupdict().items():
        if word:
            yield _capital(parsed, *match.span(group))


def _dated(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    # A host, a key and a row of a table may have the name of a day.
    safe = parsed.word_before(match.start()) in _CAPITAL_WORDS["dated"]
    yield _capital(parsed, *match.span(), safe=safe)


def _capital(parsed: ParsedText, start: int, end: int, *, safe: bool = True) -> Issue:
    word = parsed.text[start:end]
    fix = word[0].upper() + word[1:]
    return parsed.issue((start, end), fix, f'"{fix}" with a capital', "capital", safe=safe)


_NAMES = PatternRule.of("capitals", dated=_dated, name=_capital_issues)


# --- nouns ---

_NOUN_WORDS = words_of(__file__, "nouns")
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
    measured = " of " in match.group() and match["noun"] in _NOUN_WORDS["units"]
    if match["noun"] in _NOUN_WORDS["nouns"] and not measured:
        yield parsed.instead(match.span("noun"), _plural(match["noun"]), "plural")


def _mass(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if not match["many"]:
        yield parsed.instead(match.span("noun"), match["one"], "plural")


def _this(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match["of"] in _PLURALS and match["verb"] not in {"is", "was"}:
        yield parsed.instead(match.span("noun"), "these", "this_these", safe=bool(match["verb"]))


def _these(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    if match["of"] in _NOUN_WORDS["nouns"]:
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


_PLURALS = frozenset(map(_plural, _NOUN_WORDS["nouns"]))
nouns = PatternRule.of(
    "nouns", counted=_counted, mass=_mass, this=_this, these=_these, no_article=_no_article
)
"""Nouns in the wrong number, and missing articles."""


# --- repetition ---

_REPETITION = ("repeated_word", "repetition")
_DOUBLED = words_of(__file__, "repetition")
_GOVERNED: Mapping[str, frozenset[str]] = {
    "in": _DOUBLED["with_in"],
    "on": _DOUBLED["with_on"],
    "by": frozenset(),
}


def _at_the_start(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    """`The the` and the like, where a sentence begins."""
    start, word = match.start(), match.group(1)
    opens = word.lower() in _DOUBLED["openers"] and start in parsed.sentence_starts
    if opens and parsed.words_in_line(start) >= 4:
        message = f'"{word.lower()}" is repeated'
        yield parsed.issue(match.span(), word, message, *_REPETITION)


def _repeated(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    (start, end), word = match.span(), match.group(1)
    short = len(word) < 2 or min(parsed.words_in_line(start), parsed.words_in_line(end)) < 4
    if short or (word == "for" and parsed.word_after(end) in _DOUBLED["for_free"]):
        return
    message = f'"{word}" is repeated'
    if word in _DOUBLED["verbs"] or word == "to":
        if not _is_accident(parsed, start, end, word):
            return
    elif word in _GOVERNED:
        if not _has_object(parsed, start, end) or _has_clause_before(parsed, start):
            return
        if not _is_governed(parsed.word_before(start), word):
            yield parsed.issue((start, end), word, message, *_REPETITION, safe=False)
            return
    elif (
        word in _DOUBLED["legitimate"] or not word.islower() or _ends_a_clause(parsed, start, word)
    ):
        if word.islower() and word not in _DOUBLED["legitimate"]:
            yield parsed.issue((start, end), word, message, *_REPETITION, safe=False, severity=1)
        return
    fix = word
    if "\n" in match.group() and parsed.text[end : end + 1] == " ":
        # The text stays wrapped: the line now ends after the one word.
        end += 1
        fix += "\r\n" if "\r" in match.group() else "\n"
    safe = word in _DOUBLED["certain"]
    yield parsed.issue((start, end), fix, message, *_REPETITION, safe=safe)


def _ends_a_clause(parsed: ParsedText, start: int, word: str) -> bool:
    """True when one verb may end a clause and the other go on: "what the host sends sends us"."""
    before = parsed.text[parsed.sentence_start_before(start) : start].lower()
    verb = (len(word) > 3 and word.endswith("s")) or word in _DOUBLED["bases"]
    return verb and not _DOUBLED["relative"].isdisjoint(before.split())


def _is_governed(verb: str, preposition: str) -> bool:
    """True when the verb asks for the preposition and has no particle of the same form."""
    if preposition == "by":
        return verb in _DOUBLED["done"] or (verb.endswith("ed") and verb not in _DOUBLED["with_by"])
    return verb in _GOVERNED[preposition]


def _has_object(parsed: ParsedText, start: int, end: int) -> bool:
    """True when a noun goes with a preposition: an article follows, or a name does."""
    if parsed.word_after(end) in _DOUBLED["determiners"]:
        return True
    # "She logged in in London": the first one may belong to the verb.
    return (
        bool(_PATTERNS["name"].match(parsed.text, end))
        and parsed.word_before(start) not in _DOUBLED["with_in_or_on"]
    )


def _has_clause_before(parsed: ParsedText, start: int) -> bool:
    """True when a preposition may belong to a clause inside: `the house they live in in summer`."""
    words = _PATTERNS["word"].findall(
        parsed.text[parsed.sentence_start_before(start) : start].lower()
    )
    for number, word in enumerate(words):
        if word in {"and", "but"}:
            words = words[number + 1 :]  # what is before is a clause of its own
            break
    if not _DOUBLED["relative"].union(("where", "when", "how")).isdisjoint(words):
        return True
    return not _DOUBLED["pronouns"].isdisjoint(words[1:])


def _is_accident(parsed: ParsedText, start: int, end: int, word: str) -> bool:
    """True when a doubled verb or `to` cannot belong to two clauses.

    A verb is doubled by accident only behind a short subject at the beginning of its sentence.
    """
    if word == "to":
        return parsed.word_before(start) not in _DOUBLED["with_to"] or (
            parsed.word_after(end) in _DOUBLED["determiners"]
            and not _has_clause_before(parsed, start)
        )
    begin = parsed.sentence_start_before(start)
    subject = _PATTERNS["word"].findall(parsed.text[begin:start].lower())
    if not 1 <= len(subject) <= 3 or "," in parsed.text[begin:start]:
        return False
    if len(subject) > 1 and (
        subject[-1] in _DOUBLED["pronouns"] or not _DOUBLED["clause"].isdisjoint(subject)
    ):
        return False
    return len(subject) > 1 or subject[0] not in _DOUBLED["clause"] - {"that", "those"}


repetition = PatternRule.of("repetition", at_the_start=_at_the_start, repeated=_repeated)
"""Words repeated by accident; only in lines long enough to be sentences."""


# --- white space ---

_COLLAPSES = frozenset({Format.HTML, Format.LATEX})
"""Formats in which white space is never shown as it stands."""
_AROUND = words_of(__file__, "whitespace")


def _before_mark(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    start, end = match.span()
    mark = match.group(2)
    # Inside a sentence a full stop, "!" or "?" between spaces is an operator or an argument, and
    # behind an address the space is on purpose.
    if mark != "," and (
        parsed.text[end : end + 40].lstrip(" ")[:1].islower() or not parsed.free(start - 1, start)
    ):
        return
    # An ellipsis with spaces, a dotted pair.
    if mark == "." and parsed.text[end : end + 2].strip()[:1] in {".", "("}:
        return
    previous = parsed.word_before(start + 1)
    if (mark == "." and previous in _AROUND["commands"]) or previous in _AROUND["before_operator"]:
        return
    if parsed.words_in_line(start) >= 3:
        message = f'no space before "{mark}"'
        yield parsed.issue((start, end), mark, message, "space_before_punctuation", "spacing")


def _doubled(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    start, end = match.span()
    text, format = parsed.text, parsed.format
    if format in _COLLAPSES or parsed.words_in_line(start) < 5:
        return
    if not parsed.free(start - 1, end + 1):
        return
    # Two spaces after a sentence are a habit of typists.
    if _PATTERNS["sentence_end"].search(text, max(0, start - 4), start):
        return
    line_start = text.rfind("\n", max(0, start - 40), start) + 1
    if _PATTERNS["marker"].fullmatch(text[line_start:start]):
        return
    if len(_PATTERNS["gap"].findall(text, max(0, start - REACH), start + REACH)) < 3:
        yield parsed.issue((start, end), " ", "one space is enough", "double_space", "spacing")


def _after_comma(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    start, end = match.span()
    if parsed.words_in_line(start) >= 4 and parsed.free(start - 1, end + 1):
        message, rule = "a space after the comma", "space_after_comma"
        yield parsed.issue((start, end), ", ", message, rule, "spacing", safe=False)


spacing = PatternRule.of(
    "whitespace", before_mark=_before_mark, doubled=_doubled, after_comma=_after_comma
)
"""Spaces before punctuation, doubled spaces inside a line, and none after a comma."""
