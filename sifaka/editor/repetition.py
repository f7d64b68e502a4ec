"""The same word twice in a row."""

import re
from collections.abc import Iterator, Mapping

from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.record.results import Issue
from sifaka.text.tables import words_of

_RULE = ("repeated_word", "repetition")
_WORDS = words_of(__file__, "repetition")
_GOVERNED: Mapping[str, frozenset[str]] = {
    "in": _WORDS["with_in"],
    "on": _WORDS["with_on"],
    "by": frozenset(),
}
_NAME = re.compile(r" [A-Z][a-z]+")


def _at_the_start(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    """`The the` and the like, where a sentence begins."""
    start, word = match.start(), match.group(1)
    opens = word.lower() in _WORDS["openers"] and start in parsed.sentence_starts
    if opens and parsed.words_in_line(start) >= 4:
        message = f'"{word.lower()}" is repeated'
        yield parsed.issue(match.span(), word, message, *_RULE)


def _repeated(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    (start, end), word = match.span(), match.group(1)
    if len(word) < 2 or min(parsed.words_in_line(start), parsed.words_in_line(end)) < 4:
        return
    message = f'"{word}" is repeated'
    if word == "for" and parsed.word_after(end) in _WORDS["for_free"]:
        return
    if word in _WORDS["verbs"] or word == "to":
        if not _is_accident(parsed, start, end, word):
            return
    elif word in _GOVERNED:
        if not _has_object(parsed, start, end) or _has_clause_before(parsed, start):
            return
        if not _is_governed(parsed.word_before(start), word):
            yield parsed.issue((start, end), word, message, *_RULE, safe=False)
            return
    elif word in _WORDS["legitimate"] or not word.islower() or _ends_a_clause(parsed, start, word):
        if word.lower() not in _WORDS["legitimate"]:
            yield parsed.issue((start, end), word, message, *_RULE, safe=False, severity=1)
        return
    fix = word
    if "\n" in match.group() and parsed.text[end : end + 1] == " ":
        # The text stays wrapped: the line now ends after the one word.
        end += 1
        fix += "\r\n" if "\r" in match.group() else "\n"
    safe = word in _WORDS["certain"]
    yield parsed.issue((start, end), fix, message, *_RULE, safe=safe)


def _ends_a_clause(parsed: ParsedText, start: int, word: str) -> bool:
    """True when one verb may end a clause and the other go on: "what the host sends sends us"."""
    before = parsed.text[parsed.sentence_start_before(start) : start].lower()
    verb = (len(word) > 3 and word.endswith("s")) or word in _WORDS["bases"]
    return verb and not _WORDS["relative"].isdisjoint(before.split())


def _is_governed(verb: str, preposition: str) -> bool:
    """True when the verb asks for the preposition and has no particle of the same form."""
    if preposition == "by":
        return verb in _WORDS["done"] or (verb.endswith("ed") and verb not in _WORDS["with_by"])
    return verb in _GOVERNED[preposition]


def _has_object(parsed: ParsedText, start: int, end: int) -> bool:
    """True when a noun goes with a preposition: an article follows, or a name does."""
    if parsed.word_after(end) in _WORDS["determiners"]:
        return True
    # "She logged in in London": the first one may belong to the verb.
    return (
        bool(_NAME.match(parsed.text, end))
        and parsed.word_before(start) not in _WORDS["with_in_or_on"]
    )


def _has_clause_before(parsed: ParsedText, start: int) -> bool:
    """True when a preposition may belong to a clause inside: `the house they live in in summer`."""
    words = re.findall(
        r"[\w'’-]+", parsed.text[parsed.sentence_start_before(start) : start].lower()
    )
    for number, word in enumerate(words):
        if word in {"and", "but"}:
            words = words[number + 1 :]  # what is before is a clause of its own
            break
    if not _WORDS["relative"].union(("where", "when", "how")).isdisjoint(words):
        return True
    return not _WORDS["pronouns"].isdisjoint(words[1:])


def _is_accident(parsed: ParsedText, start: int, end: int, word: str) -> bool:
    """True when a doubled verb or `to` cannot belong to two clauses.

    A verb is doubled by accident only behind a short subject at the beginning of its sentence.
    """
    if word == "to":
        return parsed.word_before(start) not in _WORDS["with_to"] or (
            parsed.word_after(end) in _WORDS["determiners"]
            and not _has_clause_before(parsed, start)
        )
    begin = parsed.sentence_start_before(start)
    subject = re.findall(r"[\w'’-]+", parsed.text[begin:start].lower())
    if not 1 <= len(subject) <= 3 or "," in parsed.text[begin:start]:
        return False
    if len(subject) > 1 and (
        subject[-1] in _WORDS["pronouns"] or not _WORDS["clause"].isdisjoint(subject)
    ):
        return False
    return len(subject) > 1 or subject[0] not in _WORDS["clause"] - {"that", "those"}


repetition = PatternRule.of("repetition", at_the_start=_at_the_start, repeated=_repeated)
"""Words repeated by accident; only in lines long enough to be sentences."""
