"""The same word twice in a row."""

import re
from collections.abc import Iterator, Mapping

from sifaka.editor.lexicon import lexicon
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.patterns import PatternRule
from sifaka.editor.verbs import bases
from sifaka.record.results import Issue

_RULE = ("repeated_word", "repetition")
_GAP = r"(?:[ ]{1,3}|[ ]?\r?\n[ \t]*)"
# What stands before the word is looked at after its first letter, which is found faster.
_FREE = r"(?<![\w'’\-].)"
_RUN = re.compile(rf"([A-Za-z]{_FREE}[A-Za-z]*+)(?:{_GAP}\1)+(?![\w'’\-])")
_OPENING = re.compile(rf"(([A-Z]){_FREE}([a-z]*+)){_GAP}(?!\2)(?i:\2)\3(?![\w'’\-])")
# Words that never stand twice at the beginning of a sentence, the first of them with a capital.
_OPENERS = lexicon(
    "the a an it we she they this these our your of to is are and but if for with you at"
)
_VERBS = lexicon("is are was were has have")
# After these a doubled verb may be right: "what it is is", "the ones we have have".
_CLAUSE = lexicon(
    "what whatever who whoever whom which where wherever when how why all that as than if whether",
    "only best most thing things problem point question issue fact truth trouble reason idea is",
    "are",
    "was were be been has have had do does did because so everything anything something nothing",
    "one",
    "ones those way kind sort least last first",
)
_RELATIVE = lexicon("that which who what whatever whoever")
_PRONOUNS = lexicon("i you he she it we they there here everyone everybody someone nobody")
# "The place she went to to rest": the first one belongs to the verb.
_WITH_TO = lexicon(
    "go goes going gone went come came listen listened talk talked turn turned look looked",
    "write wrote",
    "speak spoke refer referred belong belonged lead led access up close according get got move",
    "moved",
    "moving travel travelled talking listening related married where used accustomed sent given",
)
# Doubles that good writers write, and words that mean something twice.
_LEGITIMATE = lexicon(
    "had that do did can will who what which where her him you it them one us this",
    "there those in on up out over by off very so too much many more really far long short",
    "again now never no yes not well hear tut knock ha he ho hee bye bla blah yada walla bora",
    "pom cha tap log char int double float void string bool true false null none copy tar",
    "tick tock beep click dear pretty big little old ever half data if then else i a x y z n",
)
_DETERMINERS = lexicon("a an the my your his her its our their this these")
_GOVERNED: Mapping[str, frozenset[str]] = {
    "in": lexicon(
        "live lives lived living located based interested involved found born held included used",
        "written published stored defined described shown contained result results believe",
        "believes participate participates interest",
    ),
    "on": lexicon(
        "depend depends depended depending based focus focuses focused rely relies relied",
        "concentrate concentrates insist insists",
    ),
    "by": frozenset(),
}
_DONE = lexicon(
    "written made given taken seen done built led won run caused paid sent sold held taught told",
    "brought found shown known drawn thrown stolen broken bitten",
)
# "He was passed by by a car."
_WITH_BY = lexicon("passed dropped stopped")
_WITH_IN_OR_ON = lexicon(
    "log logs logged logging sign signs signed signing check checks checked turn turns turned move",
    "moves moved moving go goes going went come comes coming came get gets getting got hold held",
    "drop dropped call called hand handed carry carried stay stays stayed join joined play put set",
)
_NAME = re.compile(r" [A-Z][a-z]+")
# "The people you work for for free".
_FOR_FREE = lexicon("free fun nothing years ages hours days weeks months now so ever that this")


def _at_the_start(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    """`The the` and the like, where a sentence begins."""
    start, word = match.start(), match.group(1)
    opens = word.lower() in _OPENERS and start in parsed.sentence_starts
    if opens and parsed.words_in_line(start) >= 4:
        message = f'"{word.lower()}" is repeated'
        yield parsed.issue(match.span(), word, message, *_RULE)


def _repeated(parsed: ParsedText, match: re.Match[str]) -> Iterator[Issue]:
    (start, end), word = match.span(), match.group(1)
    if len(word) < 2 or min(parsed.words_in_line(start), parsed.words_in_line(end)) < 4:
        return
    message = f'"{word}" is repeated'
    if word == "for" and parsed.word_after(end) in _FOR_FREE:
        return
    if word in _VERBS or word == "to":
        if not _is_accident(parsed, start, end, word):
            return
    elif word in _GOVERNED:
        if not _has_object(parsed, start, end) or _has_clause_before(parsed, start):
            return
        if not _is_governed(parsed.word_before(start), word):
            yield parsed.issue((start, end), word, message, *_RULE, safe=False)
            return
    elif word in _LEGITIMATE or not word.islower() or _ends_a_clause(parsed, start, word):
        if word.lower() not in _LEGITIMATE:
            yield parsed.issue((start, end), word, message, *_RULE, safe=False, severity=1)
        return
    fix = word
    if "\n" in match.group() and parsed.text[end : end + 1] == " ":
        # The text stays wrapped: the line now ends after the one word.
        end += 1
        fix += "\r\n" if "\r" in match.group() else "\n"
    yield parsed.issue((start, end), fix, message, *_RULE)


def _ends_a_clause(parsed: ParsedText, start: int, word: str) -> bool:
    """True when one verb may end a clause and the other go on: "what the host sends sends us"."""
    before = parsed.text[parsed.sentence_start_before(start) : start].lower()
    verb = (len(word) > 3 and word.endswith("s")) or word in bases()
    return verb and not _RELATIVE.isdisjoint(before.split())


def _is_governed(verb: str, preposition: str) -> bool:
    """True when the verb asks for the preposition and has no particle of the same form."""
    if preposition == "by":
        return verb in _DONE or (verb.endswith("ed") and verb not in _WITH_BY)
    return verb in _GOVERNED[preposition]


def _has_object(parsed: ParsedText, start: int, end: int) -> bool:
    """True when a noun goes with a preposition: an article follows, or a name does."""
    if parsed.word_after(end) in _DETERMINERS:
        return True
    # "She logged in in London": the first one may belong to the verb.
    return bool(_NAME.match(parsed.text, end)) and parsed.word_before(start) not in _WITH_IN_OR_ON


def _has_clause_before(parsed: ParsedText, start: int) -> bool:
    """True when a preposition may belong to a clause inside: `the house they live in in summer`."""
    words = re.findall(
        r"[\w'’-]+", parsed.text[parsed.sentence_start_before(start) : start].lower()
    )
    for number, word in enumerate(words):
        if word in {"and", "but"}:
            words = words[number + 1 :]  # what is before is a clause of its own
            break
    if not _RELATIVE.union(("where", "when", "how")).isdisjoint(words):
        return True
    return not _PRONOUNS.isdisjoint(words[1:])


def _is_accident(parsed: ParsedText, start: int, end: int, word: str) -> bool:
    """True when a doubled verb or `to` cannot belong to two clauses.

    A verb is doubled by accident only behind a short subject at the beginning of its sentence.
    """
    if word == "to":
        return parsed.word_before(start) not in _WITH_TO or (
            parsed.word_after(end) in _DETERMINERS and not _has_clause_before(parsed, start)
        )
    begin = parsed.sentence_start_before(start)
    subject = re.findall(r"[\w'’-]+", parsed.text[begin:start].lower())
    if not 1 <= len(subject) <= 3 or "," in parsed.text[begin:start]:
        return False
    if len(subject) > 1 and (subject[-1] in _PRONOUNS or not _CLAUSE.isdisjoint(subject)):
        return False
    return len(subject) > 1 or subject[0] not in _CLAUSE - {"that", "those"}


repetition = PatternRule([(_OPENING, _at_the_start), (_RUN, _repeated)])
"""Words repeated by accident; only in lines long enough to be sentences."""
