"""The limits that a task sets in its own words, and the parts that it leaves alone.

A bound with its number and unit is read, never the rest of the sentence. One that a text misses by
far is taken for one of a part, such as a title; a question too many is asked once, no more.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from sifaka._internal.immutable import Frozen
from sifaka.text.language import (
    LANGUAGE_NAMES,
    OWN_LANGUAGES,
    languages_named,
    tell_language,
)
from sifaka.text.markdown import read_markdown
from sifaka.text.prose import Span, blanked, sentences
from sifaka.text.tables import patterns_of
from sifaka.text.words import count_characters, count_words

_ABOUT = 0.15
"""How far from the number a length may be that is `about` it."""
_FAR = 3
"""How many times over its limit a length shows that the limit is one of a part."""
_INSTRUCTION = 400
"""The most characters of a paragraph that says what to do."""
_PATTERNS = patterns_of(__file__, "limits")
_SURE = 0.5
"""From this confidence on, another language than asked for is reported."""


class Asked(Frozen):
    """A limit of a task, measured on a text."""

    what: str
    """`words`, `sentences`, `characters`, `paragraphs`, `lines`, `bullets` or `language`."""
    limit: str
    """In words: `at most 30`, `about 120`, `in German`."""
    measured: str
    """What the text has: `34`, `English`."""
    met: bool


_BOUNDS: Mapping[str, str] = {
    "most": r"at (?:the )?most|no(?:t)? (?:more|longer) than|not exceed(?:ing)?|up to|within"
    r"|max(?:imum|\.)?(?: of)?|höchstens|maximal|bis zu|au (?:plus|maximum)|jusqu'à"
    r"|como máximo|no más de|hasta",
    "under": "under|below|(?:less|fewer) than|unter|weniger als|moins de|menos de",
    "least": "at least|no(?:t)? (?:less|fewer) than|minimum|mindestens|au moins|al menos",
    "about": "about|around|roughly|approximately|circa|ca\\.?|etwa|ungefähr|rund|environ|unos|unas",
    "exactly": "exactly|precisely|genau|exactement|exactamente",
    "inside": "in|en",
    "to": "to|auf|à|a",
}
"""What stands before the number; `inside` and `to` bind those that nothing else binds."""
_UNITS: Mapping[str, str] = {
    "words": "words?|wörtern?|worte?|mots?|palabras?",
    "characters": "characters?|chars?|zeichen|caractères?|caracteres?",
    "sentences": "sentences?|sätzen?|satz|phrases?|frases?",
    "paragraphs": "paragraphs?|absätzen?|absatz|paragraphes?|párrafos?",
    "lines": "lines?|zeilen?|lignes?|líneas?",
    "bullets": "bullet[ -]points?|bullets?|stichpunkten?|puces?|viñetas?",
}
_NUMBERS: Mapping[str, int] = {
    word: number
    for number, words in enumerate(
        (
            "one ein einem einen un une una",
            "two zwei deux dos",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five fünf cinq cinco",
            "six sechs seis",
            "seven sieben sept siete",
            "eight acht huit ocho",
            "nine neun neuf nueve",
            "ten zehn dix diez",
            "eleven elf onze once",
            "twelve zwölf douze doce",
        ),
        1,
    )
    for word in words.split()
}
_NUMBER = rf"\d{{1,3}}(?:[., ]\d{{3}})+|\d{{1,6}}|{'|'.join(_NUMBERS)}"
_LIMIT = re.compile(
    rf"(?<![\w-])(?:(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _BOUNDS.items())})\s+)?"
    rf"(?:(?:in|en)\s+)?(?P<number>{_NUMBER})(?:\s*[-–]\s*|\s+(?:and|to|und|bis|et|à|y|a)\s+)?"
    rf"(?P<other>{_NUMBER})?[\s-]+(?:\w+\s+)?"
    rf"(?:{'|'.join(f'(?P<{name}>{words})' for name, words in _UNITS.items())})(?![\w-])"
    r"(?P<less>,?\s*\(?(?:or (?:less|fewer)|max|oder weniger|ou moins|o menos))?"
    r"(?P<each>[^.;\n]{0,12}\b(?:each|per|apiece|longer|shorter|jeweils|pro|chacun|cada)\b)?",
    re.IGNORECASE,
)


def asked_of(task: str, text: str) -> tuple[Asked, ...]:
    """The limits that the words of a task set to a text, measured on it.

    `about`, and a bare `in` before words and characters, allow 15 % to both sides. What is quoted
    in the task is not read, and a language that the text does not show is left out.
    """
    task = instruction_of(task)
    task = blanked(task, (match.span() for match in _PATTERNS["quoted"].finditer(task)))
    limits = dict.fromkeys(filter(None, map(_read_limit, _LIMIT.finditer(task))))
    results = [
        Asked(what=what, limit=words, measured=str(count), met=low <= count <= high)
        for what, words, low, high in limits
        if (count := _MEASURES[what](text)) <= _FAR * high
    ]
    return (*results, *_check_language(task, text))


def instruction_of(task: str) -> str:
    """The task with blanks in place of long paragraphs beside short ones: those are material."""
    paragraphs = [match.span() for match in _PATTERNS["passage"].finditer(task)]
    long = [(start, end) for start, end in paragraphs if end - start > _INSTRUCTION]
    return blanked(task, long) if len(long) < len(paragraphs) else task


def limit_spans(task: str) -> tuple[Span, ...]:
    """The places of the task that set a limit or name a part, in their order."""
    return tuple(sorted(m.span() for m in (*_LIMIT.finditer(task), *_NAMED.finditer(task))))


def _read_limit(match: re.Match[str]) -> tuple[str, str, float, float] | None:
    """What is limited, the limit in words and both its ends; None where it limits nothing."""
    what = next(unit for unit in _UNITS if match[unit])
    before = match.string[: match.start("number")]
    if match["each"] or _PATTERNS["part"].search(before):
        return None
    number, other = _read_number(match["number"]), match["other"] and _read_number(match["other"])
    if other:
        return (what, f"{number} to {other}", number, other) if number < other else None
    bound = "most" if match["less"] else next((name for name in _BOUNDS if match[name]), "")
    if bound == "inside":
        bound = "about" if what in {"words", "characters"} else "exactly"
    ends: Mapping[str, tuple[str, float, float]] = {
        "most": (f"at most {number}", 0, number),
        "to": (f"at most {number}", 0, number),
        "under": (f"under {number}", 0, number - 1),
        "least": (f"at least {number}", number, math.inf),
        "about": (f"about {number}", number * (1 - _ABOUT), number * (1 + _ABOUT)),
        "exactly": (f"exactly {number}", number, number),
    }
    words, low, high = ends.get(bound, ("", 0.0, 0.0))
    return (what, words, low, high) if words else None


def _read_number(number: str) -> int:
    return _NUMBERS.get(number.lower()) or int(re.sub(r"\D", "", number))


def _count_sentences(text: str) -> int:
    """The sentences, without headings, salutations and the name below a letter."""
    stripped = (text[start:end].rstrip("\"'”’»)]*_ ") for start, end in sentences(text))
    return sum(1 for each in stripped if _PATTERNS["sentence"].fullmatch(each))


def _count_bullets(text: str) -> int:
    """The items of the outer lists."""
    indents = [len(match[1]) for match in _PATTERNS["bullet"].finditer(text)]
    return sum(indent <= min(indents) + 1 for indent in indents)


_MEASURES: Mapping[str, Callable[[str], int]] = {
    "words": count_words,
    "characters": lambda text: count_characters(text.strip()),
    "sentences": _count_sentences,
    "lines": lambda text: sum(1 for line in text.splitlines() if line.strip()),
    "paragraphs": lambda text: sum(
        map(bool, map(_count_sentences, _PATTERNS["blank_line"].split(text)))
    ),
    "bullets": _count_bullets,
}


def _check_language(task: str, text: str) -> Iterator[Asked]:
    """The one language that a task asks to write in."""
    named = {code for _, code in languages_named(task)}
    code, detected = "".join(named), tell_language(text)
    if code not in OWN_LANGUAGES or not detected.language:
        return
    if detected.confidence >= _SURE or detected.language == code:
        measured = LANGUAGE_NAMES.get(detected.language, detected.language)
        limit, met = f"in {LANGUAGE_NAMES[code]}", detected.language == code
        yield Asked(what="language", limit=limit, measured=measured, met=met)


_ORDINALS: Mapping[str, int] = {
    word: number - 1
    for number, words in enumerate(
        (
            "last letzten dernier dernière último última",
            "first ersten premier première primer primera",
            "second zweiten deuxième segundo segunda",
            "third dritten troisième tercer tercera",
            "fourth vierten quatrième cuarto cuarta",
        )
    )
    for word in words.split()
}
"""The place in a list; -1 is the last."""
_ONLY = r"(?:only|just|nothing (?:else|other) than|nur|seulement|uniquement|solo|sólo)"
_SECTION = r"(?:sections?|chapters?|abschnitte?|kapitel|chapitres?|secci(?:ón|ones))"
_PARAGRAPH = r"(?:paragraphs?|absatz|absätze|paragraphes?|párrafos?)"
_PLACED = (
    rf"(?:(?P<section>{_SECTION})|{_PARAGRAPH})\s+"
    r"(?P<numbers>\d[\d.]*(?:(?:,|\s+\w+)\s*\d[\d.]*)*)"
    rf"|(?P<ordinal>{'|'.join(_ORDINALS)})\s+(?:(?P<nth>{_SECTION})|{_PARAGRAPH})"
)
_NAMED = re.compile(rf"\b(?:{_PLACED})\b", re.IGNORECASE)
_TITLE_NUMBER = re.compile(
    rf"(?:(?:{_SECTION}|§)\s*)?(?P<number>\d+(?:\.\d+)*)[.):–—\s-]*", re.IGNORECASE
)


def outside_scope(task: str, original: str, version: str) -> tuple[tuple[str, str], ...]:
    """What a version changes outside the one part that its task names with `only`.

    A part is a section, by the number or the title of its Markdown heading, or a paragraph by its
    place. Changes of white space are none.

    Returns:
        Each change with the words before and after it, empty for what is added or removed; nothing
        where the task names no part, or none that the original has.
    """
    spans = tuple(scope_of(task, original))
    if not spans:
        return ()
    from rapidfuzz.distance import Levenshtein

    old, new = (
        [(match.start(), match.group().split()) for match in _PATTERNS["piece"].finditer(text)]
        for text in (original, version)
    )
    edits = Levenshtein.editops(*([tuple(words) for _, words in text] for text in (old, new)))
    changes: list[tuple[str, str]] = []
    for edit in edits:
        kind, at, to = edit.tag, edit.src_pos, edit.dest_pos
        position = old[at][0] if at < len(old) else len(original)
        end = position - (kind == "insert")  # what follows a part at once belongs to it
        if not any(start <= position and end < stop for start, stop in spans):
            before = old[at][1] if kind != "insert" else []
            after = new[to][1] if kind != "delete" else []
            codes = [code for code in Levenshtein.opcodes(before, after) if code.tag != "equal"]
            lost = before[codes[0].src_start : codes[-1].src_end]
            gained = after[codes[0].dest_start : codes[-1].dest_end]
            changes.append((" ".join(lost), " ".join(gained)))
    return tuple(changes)


def names_only(task: str) -> bool:
    """True when a task says that only something is to be changed."""
    return bool(re.search(rf"\b{_ONLY}\b", instruction_of(task), re.IGNORECASE))


def scope_of(task: str, text: str) -> Iterator[Span]:
    """The places of the parts of a text that a task names as the only ones to be changed."""
    task = instruction_of(task)
    only = re.search(rf"\b{_ONLY}\b", task, re.IGNORECASE)
    if not only:
        return
    blocks = read_markdown(text).blocks
    headings = [block for block in blocks if block.level]
    stops = (
        next((each.start for each in headings[at:] if each.level <= heading.level), len(text))
        for at, heading in enumerate(headings, 1)
    )
    sections = [(each, (each.start, stop)) for each, stop in zip(headings, stops, strict=True)]
    levels = Counter(heading.level for heading in headings)
    top = min((level for level, count in levels.items() if count > 1), default=0)
    ordered = [span for heading, span in sections if heading.level == top]
    # A salutation is none, as where they are counted.
    paragraphs = [
        (block.start, block.end)
        for block in blocks
        if block.kind == "other" and _count_sentences(text[block.start : block.end])
    ]
    for match in _NAMED.finditer(task):
        inside = ordered if match["section"] or match["nth"] else paragraphs
        if match["ordinal"]:
            at = _ORDINALS[match["ordinal"].lower()]
            yield from inside[at : at + 1 or None]
            continue
        numbers = [each.strip(".") for each in re.findall(r"\d[\d.]*", match["numbers"])]
        titled = [(_TITLE_NUMBER.match(heading.title), span) for heading, span in sections]
        named = [span for title, span in titled if title and title["number"] in numbers]
        places = [int(each) - 1 for each in numbers if each.isdecimal()]
        counted = (inside[at] for at in places if 0 <= at < len(inside))
        yield from named if named and match["section"] else counted
    for heading, span in sections:
        title = _TITLE_NUMBER.sub("", heading.title, count=1).strip("*_` ").lower()
        if title and re.search(rf"\b{re.escape(title)}\b", task[only.end() :].lower()):
            yield span
