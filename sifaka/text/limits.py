"""The limits that a task sets in its own words, and the parts that it leaves alone.

A limit is read where its words say the length or the language of the whole text. Where they may
speak of a part of it, of a change, or of something else, nothing is read: a limit that is missed is
one line less, and one that is made up sends a good text back.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import zip_longest

from sifaka._internal.immutable import Frozen
from sifaka.text.language import (
    LANGUAGE_NAMES,
    OWN_LANGUAGES,
    languages_named,
    tell_language,
    translation_into,
)
from sifaka.text.markdown import read_markdown
from sifaka.text.prose import Span, blanked, sentence_spans
from sifaka.text.words import count_characters, count_words

_ABOUT = 0.15
"""How far from the number a length may be that is `about` it."""
_SURE = 0.5
"""From this confidence on, another language than asked for is told."""
_LEAST_CHARACTERS = 20
"""Fewer `characters` are those of a story."""
_WINDOW = 200
"""Characters around a limit that say what it is about."""


class Asked(Frozen):
    """A limit of a task, measured on a text."""

    what: str
    """`words`, `sentences`, `characters`, `paragraphs`, `lines`, `bullets` or `language`."""
    limit: str
    """In words: `at most 30`, `about 120`, `in German`."""
    measured: str
    """What the text has: `34`, `English`."""
    met: bool


_TEXTS = (
    r"texts?|e-?mails?|mail|letter|message|reply|answer|response|summary|post|article|version|result"
    r"|output|everything|thing|length|essay|report|description|abstract|review|story|tweet|poem"
    r"|announcement|speech|brief|antwort|nachricht|zusammenfassung|artikel|fassung|alles|länge"
    r"|texte|lettre|réponse|résumé|texto|correo|carta|respuesta|resumen|mensaje"
)
"""What a whole text is called."""
_PARTS = re.compile(
    r"\b(?:each|every|per|apiece|first|second|third|last|titles?|subject|head(?:ing|line|er)s?|names?"
    r"|captions?|tagline|slogan|intro(?:duction)?|opening|conclusion|closing|bullets?|points?|lines?"
    r"|sentences?|paragraphs?|sections?|chapters?|items?|rows?|cells?|columns?|quot(?:e|ation)s?"
    r"|footnotes?|beginning|end|start|top|bottom|add|insert|append|include|prepend|definition"
    r"|example|labels?|fields?|longer|shorter"
    r"|jede[rsnm]?|je|pro|jeweils|erste[rsnm]?|letzte[rsnm]?|titel|betreff(?:zeile)?|überschrift(?:en)?"
    r"|einleitung|schluss|satz|sätzen?|absatz|absätzen?|abschnitte?n?|zeilen?|stichpunkte?n?|ergänze?n?"
    r"|füge"
    r"|chaque|chacune?|par|première?|derni(?:er|ère)|titre|objet|ajoute[rz]?|phrases?|paragraphes?"
    r"|lignes?|puces?"
    r"|cada|por|primer[ao]?|últim[ao]|título|asunto|añad[ea]|frases?|párrafos?|líneas?|viñetas?)\b",
    re.IGNORECASE,
)
"""With one of these beside it a limit may be one of a part, or of a change."""
_IN_ALL = re.compile(
    r"\s*(?:in total|in all|altogether|overall|insgesamt|au total|en total)\b", re.IGNORECASE
)
_THIS = re.compile(
    r"\b(?:this|the (?:following|above)|dies\w+|cet?(?:te)?|est[ae])\s+\w+", re.IGNORECASE
)
"""`this paragraph` is the whole text."""
_CLAUSE_END = re.compile(
    r"[,.;:!?()\n]|\s(?:and|with|but|that|wh\w+|how|about|on|und|mit|et|avec|y|con)\s",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;!?\n](?=\s|\Z)")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|`[^`\n]*`")
_OF_THAT = re.compile(r"\s*(?:of|with|mit|von|zu|de|avec|con|à)\s*", re.IGNORECASE)
"""Between two limits: the second is one of each of the first."""
_OF_KIND = re.compile(r"\s*(?:of|from|than|longer|shorter|per|de|von)\b\s*\w", re.IGNORECASE)
"""After a limit: it is one of such words only, or of the difference."""
_WHOLE = re.compile(
    rf"\b(?:whole|entire|total|overall|gesamte\w*|ganze\w*|tout|todo)\b"
    rf"|\bkeep (?:the|your) (?={_TEXTS})",
    re.IGNORECASE,
)
"""What stands before it is of something else."""
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_BULLET = re.compile(r"^([ \t]*)(?:[-*+•–]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_SENTENCE = re.compile(r"(?!#)(?:.*[.!?…。！？।؟]|(?:\S+\s+){3,}.*[^,:])", re.DOTALL)
_TARGET = re.compile(
    r"(?:^|[.,;:!?()\n–—-]|\b(?:answer|reply|respond|(?:re)?write|draft|summari[sz]e|explain|\w*schreibe?n?"
    r"|antworten?|(?:ré)?écri\w*|répond\w*|(?:re)?escrib\w*|respond\w*|and|und|et|y"
    rf"|{_TEXTS})(?: (?:it|this|that|all|everything|es|(?:the|an?|your) (?:{_TEXTS})))?)\s*$",
    re.IGNORECASE,
)
"""Before a language that is to be written in."""
_TARGET_END = re.compile(
    r"\s*(?:\Z|[.,;:!?()\n]|(?:and|but|please|using|for|in|at|und|bitte|et|y)\b)", re.IGNORECASE
)

_NOTATIONS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "numbers": "one two three four five six seven eight nine ten eleven twelve",
        "most": r"(?:at (?:the )?most|(?:no|not) (?:more|longer) than|up to"
        r"|(?:not|n['’]t) (?:exceed|go over)|not exceeding|within"
        r"|(?:a )?max(?:\.|imum)?(?: length)?(?: of|:)?)",
        "under": "(?:under|below|(?:less|fewer|shorter) than)",
        "least": r"(?:at least|(?:no|not) (?:less|fewer) than"
        r"|(?:a )?min(?:\.|imum)?(?: length)?(?: of|:)?)",
        "about": r"(?:about|around|roughly|approximately|approx\.?|circa|ca\.?)",
        "exactly": "(?:exactly|precisely)",
        "between": "between",
        "within": "in",
        "to": "to",
        "after": "to|into|of|with|be|it|this|that|write|use|have|has|must|should|may|does|do|keep"
        rf"|stay|and|but|{_TEXTS}",
        "writing": r"\b(?:summari[sz]e|sum|summary|(?:re)?write|draft|compose|explain|describe|say"
        r"|tell|answer|reply|respond|express|state|condense|compress|rephrase|reword|paraphrase|present"
        r"|outline|define|give|shorten|recap)\b",
        "shortening": r"\b(?:shorten|cut|reduce|trim|condense|limit|restrict|compress|keep)\b",
        "links": "and|to|or",
        "or_less": r"or (?:less|fewer)|max(?:imum)?\b|at (?:the )?most|tops",
        "or_more": "or more|min(?:imum)?|at least",
        "units": "words=words? characters=characters?|chars? sentences=sentences? lines=lines?"
        r" paragraphs=paragraphs? bullets=bullet[\s-]points?|bullets?|points?",
        "short": "short|brief|concise|full|complete|clear|simple",
    },
    "de": {
        "numbers": "ein/eine/einem/einen/einer zwei drei vier fünf sechs sieben acht neun zehn elf"
        " zwölf",
        "most": r"(?:höchstens|maximal|max\.?|bis zu|nicht (?:mehr|länger) als)",
        "under": "(?:unter|weniger als)",
        "least": "(?:mindestens|wenigstens)",
        "about": r"(?:etwa|ungefähr|rund|circa|ca\.?)",
        "exactly": "genau",
        "between": "zwischen",
        "within": "in",
        "to": "auf",
        "after": rf"auf|mit|von|soll(?:te)?|darf|muss|hat|schreibe?|es|und|aber|{_TEXTS}",
        "writing": r"\b(?:fass\w*|zusammen\w*|\w*schreib\w*|erklär\w*|formulier\w*|sag\w*"
        r"|antwort\w*|erläuter\w*|verfass\w*)\b",
        "shortening": r"\b(?:\w*kürz\w*|begrenz\w*|reduzier\w*|beschränk\w*)\b",
        "links": "und|bis|oder",
        "or_less": "oder weniger|maximal|max|höchstens",
        "or_more": "oder mehr|mindestens",
        "units": "words=wörtern?|worte?n? characters=zeichen sentences=sätzen?|satz lines=zeilen?"
        " paragraphs=absätzen?|absatz bullets=(?:stich|aufzählungs)punkte?n?",
        "short": "kurzen?|knappen?|ganzen?",
    },
    "fr": {
        "numbers": "un/une deux trois quatre cinq six sept huit neuf dix onze douze",
        "most": r"(?:au (?:plus|maximum)|(?:un )?max(?:imum|\.)?(?: de)?"
        r"|pas (?:plus de|dépasser)|jusqu['’]à)",
        "under": "moins de",
        "least": "au (?:moins|minimum)",
        "about": "(?:environ|autour de|à peu près)",
        "exactly": "exactement",
        "between": "entre",
        "within": "en",
        "to": "à",
        "after": rf"à|de|avec|faire|écri(?:re|s|vez)|le|et|mais|{_TEXTS}",
        "writing": r"\b(?:résum\w*|(?:ré)?écri\w*|expliqu\w*|décri\w*|rédig\w*|dis|dites|répon\w*"
        r"|reformul\w*|condens\w*|présent\w*)\b",
        "shortening": r"\b(?:raccourci\w*|limit\w*|rédui\w*|abr[èé]g\w*)\b",
        "links": "et|à|ou",
        "or_less": "ou moins|au (?:plus|maximum)|maximum|max",
        "or_more": "ou plus|au (?:moins|minimum)|minimum",
        "units": "words=mots? characters=caractères? sentences=phrases? lines=lignes?"
        " paragraphs=paragraphes? bullets=puces?|points?",
        "short": "courte?s?|brefs?|brèves?",
    },
    "es": {
        "numbers": "un/una/uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
        "most": r"(?:como (?:máximo|mucho)|(?:un )?máx(?:imo|\.)?(?: de)?|no más de|hasta)",
        "under": "menos de",
        "least": "(?:al menos|por lo menos|como mínimo)",
        "about": "(?:un[oa]s|alrededor de|aproximadamente|cerca de)",
        "exactly": "exactamente",
        "between": "entre",
        "within": "en",
        "to": "a",
        "after": rf"a|de|con|tener|escrib[ea]|y|pero|{_TEXTS}",
        "writing": r"\b(?:resum\w*|(?:re)?escrib\w*|explic\w*|explique|describ\w*|redact\w*|di"
        r"|respond\w*|reformul\w*|condens\w*|present\w*)\b",
        "shortening": r"\b(?:acort\w*|redu[cz]\w*|limit\w*|abrevi\w*|recort\w*)\b",
        "links": "y|a|o",
        "or_less": "o menos|como máximo|máximo",
        "or_more": "o más|como mínimo|mínimo",
        "units": "words=palabras? characters=caracteres sentences=frases?|oracion(?:es)?"
        " lines=líneas? paragraphs=párrafos? bullets=viñetas?|puntos?",
        "short": "cort[ao]s?|breves?",
    },
}
"""How each language writes limits, in alternatives of regular expressions.

`numbers` are the words for one to twelve, variants of one between strokes; `within` says a length
only beside a word of `writing`, and `to` beside one of `shortening`; `after` stands directly before
a limit of the whole text, `links` between two numbers, `short` between a number and its unit.
"""
_BOUNDS = ("most", "under", "least", "about", "exactly", "between", "to")


_Limit = tuple[str, str, float, float]
"""What is limited, the limit in words, and both ends, included."""


def asked_of(task: str, text: str) -> tuple[Asked, ...]:
    """The limits that the words of a task set to the whole text, measured on a text.

    Read are bounds of words, characters, sentences, paragraphs, lines and bullets, and the language
    to write in, in English, German, French and Spanish. `about`, and `in` before words and
    characters, allow 15 % to both sides. What is quoted in the task is not read, and a language
    that cannot be told from the text is left out.
    """
    task = blanked(task, (found.span() for found in _QUOTED.finditer(task)))
    limits = dict.fromkeys(each for notation in _NOTATIONS for each in _limits(task, notation))
    measured = {what: _MEASURES[what](text) for what, *_ in limits}
    lengths = tuple(
        Asked(
            what=what,
            limit=words,
            measured=str(measured[what]),
            met=low <= measured[what] <= high,
        )
        for what, words, low, high in limits
    )
    return (*lengths, *_language_asked(task, text))


def _limits(task: str, language: str) -> Iterator[_Limit]:
    """Each that is surely one of the whole text, by the words of its sentence around it."""
    end = 0
    found = list(_pattern(language).finditer(task))
    following = [each.start() for each in found[1:]]
    for match, stop in zip_longest(found, following):
        before = task[max(end, match.start() - _WINDOW) : match.start()]
        behind = task[match.end() : stop][:_WINDOW]
        sentence = _SENTENCE_END.split(before)[-1], _SENTENCE_END.split(behind)[0]
        of_that = end and _OF_THAT.fullmatch(before)
        limit = _limit(match)
        if limit and not of_that and _is_of_all(match, *sentence, _NOTATIONS[language]):
            yield limit
            end = match.end()


@cache
def _pattern(language: str) -> re.Pattern[str]:
    notation = _NOTATIONS[language]
    words = notation["numbers"].replace("/", " ").replace(" ", "|")
    number = rf"\d{{1,3}}(?:[., ]\d{{3}})+|\d{{1,6}}|(?:{words})"
    bounds = "|".join(rf"(?P<{name}>{notation[name]})" for name in _BOUNDS)
    units = "|".join("(?P<{}>{})".format(*unit.split("=")) for unit in notation["units"].split(" "))
    return re.compile(
        rf"(?<![\w'’.,-])(?:(?P<inside>{notation['within']})\s+)?(?:(?:{bounds})\s+)?"
        rf"(?P<number>{number})"
        rf"(?:(?:\s*[-–]\s*|\s+(?:{notation['links']})\s+)(?P<other>{number}))?"
        rf"\s+(?:(?:{notation['short']})\s+)?(?:{units})(?![\w'’-])"
        rf"(?:,?\s*\(?(?:(?P<less>{notation['or_less']})|(?P<more>{notation['or_more']}))(?!\w))?",
        re.IGNORECASE,
    )


_NUMBERS: Mapping[str, int] = {
    word: value
    for notation in _NOTATIONS.values()
    for value, words in enumerate(notation["numbers"].split(), 1)
    for word in words.split("/")
}


def _value(number: str) -> int:
    return _NUMBERS.get(number.lower()) or int(re.sub(r"\D", "", number))


def _limit(found: re.Match[str]) -> _Limit | None:
    """What the words say; None where they are no limit."""
    what = next(unit for unit in _MEASURES if found[unit])
    number, other = _value(found["number"]), _value(found["other"] or found["number"])
    said = "most" if found["less"] else "least" if found["more"] else ""
    said = said or next((name for name in _BOUNDS if found[name]), "")
    alone = "about" if what in {"words", "characters"} else "exactly"
    bound = said or (alone if found["inside"] else "")
    topic = said == "about" and "point" in found[what].lower()
    if topic or (what == "characters" and number < _LEAST_CHARACTERS):
        return None
    if found["other"] and bound not in {"between", "about", "exactly"}:
        return None
    ends: Mapping[str, tuple[str, float, float]] = {
        "most": (f"at most {number}", 0, number),
        "to": (f"at most {number}", 0, number),
        "under": (f"under {number}", 0, number - 1),
        "least": (f"at least {number}", number, math.inf),
        "about": (f"about {number}", number * (1 - _ABOUT), number * (1 + _ABOUT)),
        "exactly": (f"exactly {number}", number, number),
        "range": (f"between {number} and {other}", number, other),
    }
    told = ends.get("range" if found["other"] else bound)
    return (what, told[0], told[1], told[2]) if told and told[1] <= told[2] else None


def _is_of_all(found: re.Match[str], before: str, behind: str, notation: Mapping[str, str]) -> bool:
    beside = (_THIS.sub("", _WHOLE.split(before)[-1]), _CLAUSE_END.split(behind, maxsplit=1)[0])
    if _OF_KIND.match(behind) or (not _IN_ALL.match(behind) and any(map(_PARTS.search, beside))):
        return False
    if found["to"]:
        return bool(re.search(notation["shortening"], before, re.IGNORECASE))
    if found["inside"] and re.search(notation["writing"], before + behind, re.IGNORECASE):
        return True
    after = "" if found["inside"] else rf"|\b(?:{notation['after']})"
    return bool(re.search(rf"(?:^|[.,;:!?()\n–—-]{after})\s*$", before, re.IGNORECASE))


def _count_sentences(text: str) -> int:
    """The sentences, without headings, salutations and the name below a letter."""
    found = (text[start:end].rstrip("\"'”’»)]*_ ") for start, end in sentence_spans(text))
    return sum(1 for each in found if _SENTENCE.fullmatch(each))


def _count_bullets(text: str) -> int:
    """The items of the outer lists."""
    indents = [len(found[1]) for found in _BULLET.finditer(text)]
    outer = min(indents, default=0) + 1
    return sum(1 for indent in indents if indent <= outer)


_MEASURES: Mapping[str, Callable[[str], int]] = {
    "words": count_words,
    "characters": lambda text: count_characters(text.strip()),
    "sentences": _count_sentences,
    "lines": lambda text: sum(1 for line in text.splitlines() if line.strip()),
    "paragraphs": lambda text: sum(map(bool, map(_count_sentences, _BLANK_LINE.split(text)))),
    "bullets": _count_bullets,
}


def _language_asked(task: str, text: str) -> tuple[Asked, ...]:
    """The one language that a task asks to write in."""
    codes = {code for sentence in _SENTENCE_END.split(task) for code in _languages(sentence)}
    code = codes.pop() if len(codes) == 1 else ""
    told = tell_language(text) if code in OWN_LANGUAGES else None
    if not told or not told.language or (told.confidence < _SURE and told.language != code):
        return ()
    limit = f"in {LANGUAGE_NAMES[code]}"
    measured = LANGUAGE_NAMES.get(told.language, told.language)
    return (Asked(what="language", limit=limit, measured=measured, met=told.language == code),)


def _languages(sentence: str) -> Iterator[str]:
    translates = translation_into(sentence) is not None
    of_part = translates and _PARTS.search(_THIS.sub("", sentence))
    for (start, end), code in languages_named(sentence):
        written = _TARGET.search(sentence[max(0, start - _WINDOW) : start])
        written = written and _TARGET_END.match(sentence[end : end + _WINDOW])
        if not of_part and (translates or written):
            yield code


_NO_OTHER = (
    r"(?:only|just|nothing (?:else|other) than|nothing but|nur|ausschließlich|seulement|uniquement"
    r"|sólo|solo|solamente|únicamente)"
)
_CHANGE = (
    r"(?:change|edit|fix|correct|(?:re)?write|revise|improve|modify|touch|update|shorten|polish|translate"
    r"|proofread|rephrase|reword|work on|alter|adjust|expand|simplify|make|delete|remove"
    r"|\w*änder\w*|korrigier\w*|überarbeit\w*|verbesser\w*|bearbeit\w*|\w*kürz\w*|übersetz\w*"
    r"|chang\w*|modifi\w*|corrig\w*|réécri\w*|amélior\w*|révis\w*|tradui\w*|raccourci\w*"
    r"|cambi\w*|reescrib\w*|mejor\w*|revis\w*|edit[ae]|tradu[cz]\w*|acort\w*)"
)
_ONLY_BEFORE = re.compile(
    rf"(?:(?:^|[,;:(–—])\s*|\b(?:{_CHANGE}|please|and|but|bitte|und|aber|et|mais|y|pero)\s+)"
    rf"{_NO_OTHER}\s+"
    rf"(?:{_CHANGE}\b(?:(?!\b(?:from|to|with|than|like|as|using|if|where|aus|mit|wie|avec|con)\b)"
    rf"[^,;:]){{0,60}})?(?:(?:in|within|im|den|dans|en)\s+)?"
    r"(?:the |den |die |das |la |le |el |l['’])?$"
    rf"|\b{_CHANGE}\b.*\b{_NO_OTHER}\s+(?:in|within|im|dans|en)\s+"
    r"(?:the |der |dem |la |le |el |l['’])?$",
    re.IGNORECASE,
)
_ONLY_AFTER = re.compile(rf"\s*{_NO_OTHER}\s*(?:$|[,;:!)])", re.IGNORECASE)
_ORDINALS: Mapping[str, int] = {
    word: number - 1
    for number, words in enumerate(
        (
            "last letzte letzten dernier dernière último última",
            "first 1st erste ersten premier première primer primera",
            "second 2nd zweite zweiten deuxième segundo segunda",
            "third 3rd dritte dritten troisième tercer tercera",
            "fourth 4th vierte vierten quatrième cuarto cuarta",
            "fifth 5th fünfte fünften cinquième quinto quinta",
            "sixth 6th sechste sechsten sixième sexto sexta",
        )
    )
    for word in words.split()
}
"""The place in a list; -1 is the last."""
_SECTION = "sections?|chapters?|abschnitte?n?|kapitel|chapitres?|sección|secciones"
_PARAGRAPH = "paragraphs?|absätzen?|absatz|paragraphes?|párrafos?"
_LINK = r"(?:,\s*|\s+(?:and|und|et|y)\s+(?:the\s+)?)"
_ORDINAL = "|".join(_ORDINALS)
_PART = re.compile(
    rf"\b(?:(?:(?P<section>{_SECTION})|(?:{_PARAGRAPH}))\s+"
    rf"(?P<numbers>\d[\d.]*(?<!\.)(?:{_LINK}\d[\d.]*(?<!\.))*)(?!\s*[-–]|\s+(?:to|bis|à|a)\s+\d)"
    rf"|(?P<ordinals>(?:{_ORDINAL})(?:{_LINK}(?:{_ORDINAL}))*)\s+"
    rf"(?:(?P<nth_section>{_SECTION})|(?:{_PARAGRAPH})))\b",
    re.IGNORECASE,
)
_TITLE_NUMBER = re.compile(
    rf"(?:(?:{_SECTION}|§)\s*)?(?P<number>\d+(?:\.\d+)*)(?:[.):–—-]|\s|$)\s*", re.IGNORECASE
)
_USUAL = re.compile(
    r"introduction|conclusions?|summary|abstract|einleitung|fazit|zusammenfassung|résumé"
    r"|introducción|conclusión|resumen",
    re.IGNORECASE,
)
_PIECE = re.compile(r"^[ \t]*#.*|(?:^(?![ \t]*#).*\S.*\n?)+", re.MULTILINE)
"""A heading, or lines that no blank one and no heading divides."""


def outside_scope(task: str, original: str, version: str) -> tuple[tuple[str, str], ...]:
    """What a version changes outside the one part that its task names with `only`.

    A part is a section, by the number or the title of its Markdown heading, or a paragraph by its
    place. Changes of white space are none.

    Returns:
        Each change with the words before and after it, empty for what is added or removed; nothing
        where the task names no part, or none that the original has.
    """
    spans = _scope(task, original)
    if not spans:
        return ()
    from rapidfuzz.distance import Levenshtein

    old, new = (
        [(found.start(), found.group().split()) for found in _PIECE.finditer(text)]
        for text in (original, version)
    )
    edits = Levenshtein.editops(*([tuple(words) for _, words in text] for text in (old, new)))
    changes: list[tuple[str, str]] = []
    for edit in edits:
        kind, at, to = edit.tag, edit.src_pos, edit.dest_pos
        place = old[at][0] if at < len(old) else len(original)
        end = place - (kind == "insert")  # what follows a part at once belongs to it
        if not any(start <= place and end < stop for start, stop in spans):
            before = old[at][1] if kind != "insert" else []
            after = new[to][1] if kind != "delete" else []
            codes = [code for code in Levenshtein.opcodes(before, after) if code.tag != "equal"]
            lost = before[codes[0].src_start : codes[-1].src_end]
            gained = after[codes[0].dest_start : codes[-1].dest_end]
            changes.append((" ".join(lost), " ".join(gained)))
    return tuple(changes)


def _scope(task: str, original: str) -> Sequence[Span]:
    """The places of the parts that a task names as the only ones to be changed."""
    spans: list[Span] = []
    named = re.compile(rf"\b{_NO_OTHER}\b", re.IGNORECASE).search
    for sentence in filter(named, _SENTENCE_END.split(task)):
        for found, places in _parts(sentence, original):
            before = sentence[max(0, found.start() - _WINDOW) : found.start()]
            behind = sentence[found.end() : found.end() + _WINDOW]
            changed = re.search(_CHANGE, before, re.IGNORECASE) and _ONLY_AFTER.match(behind)
            if changed or _ONLY_BEFORE.search(before):
                spans += places
    return spans


def _parts(sentence: str, original: str) -> Iterator[tuple[re.Match[str], Sequence[Span]]]:
    """The parts that a sentence names, each with where it stands in the text."""
    blocks = read_markdown(original).blocks
    headings = [block for block in blocks if block.level]
    stops = (
        next((each.start for each in headings[at:] if each.level <= heading.level), len(original))
        for at, heading in enumerate(headings, 1)
    )
    sections = [(each, (each.start, stop)) for each, stop in zip(headings, stops, strict=True)]
    numbers = ((_TITLE_NUMBER.match(heading.title), span) for heading, span in sections)
    labels = {number["number"]: span for number, span in numbers if number}
    levels = Counter(heading.level for heading in headings)
    top = min((level for level, count in levels.items() if count > 1), default=0)
    ordered = [span for heading, span in sections if heading.level == top]
    paragraphs = [(block.start, block.end) for block in blocks if block.kind == "other"]
    prose = [span for span in paragraphs if _count_sentences(original[slice(*span)])]
    for found in _PART.finditer(sentence):
        of_sections = found["section"] or found["nth_section"]
        words = re.split(_LINK, (found["numbers"] or found["ordinals"]).lower())
        spans: list[Span] = []
        for word in words:
            at = _ORDINALS.get(word, int(word) - 1 if word.isdecimal() else len(original))
            label = str(at + 1) if word in _ORDINALS else word
            lists = (paragraphs, prose) if not of_sections else () if labels else (ordered,)
            spans += [labels[label]] if of_sections and label in labels else []
            spans += [each[at] for each in lists if -1 <= at < len(each) and each]
        yield found, spans
    for heading, span in sections:
        name = _TITLE_NUMBER.sub("", heading.title, count=1).strip("*_` ")
        if name and name.lower() in sentence.lower():
            yield from ((found, (span,)) for found in _named(name).finditer(sentence))


def _named(title: str) -> re.Pattern[str]:
    """A title where it surely is one: beside `section`, quoted, or of a usual part."""
    name = re.escape(title)
    usual = rf"|\b{name}\b" if _USUAL.fullmatch(title) else ""
    return re.compile(
        rf"(?:{_SECTION}|heading)\s+[\"“„«']?{name}(?!\w)[\"”“»']?|[\"“„«']{name}[\"”“»']"
        rf"|(?<!\w){name}\s+(?:{_SECTION}){usual}",
        re.IGNORECASE,
    )
