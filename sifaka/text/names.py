"""The names in a text: where they are, by their capitals alone."""

import re
from collections.abc import Iterator

from sifaka.text.language import FUNCTION_WORDS

_RUN = re.compile(
    r"(?<![\w@#/.\\-])(?P<title>(?:Mr|Mrs|Ms|Dr|Prof|St|Mme|Herrn?|Frau|Señora?|Sra?)\.?[ ])?"
    r"(?P<run>[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩЀ-Я][^\W\d_]*(?:[-'][^\W\d_]+)*"
    r"(?:(?:[ ]|(?<=[ ][A-Z])\.[ ])[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩЀ-Я][^\W\d_]*(?:[-'][^\W\d_]+)*){0,6})"
)
_PICTURE = r"\u2190-\u21ff\u2600-\u27bf\ufe0f\U0001f300-\U0001faff"
_OPENS = re.compile(rf"(?:\A|[.!?¡¿:;\n|>•\"“„«»(\[{{/*#_\-{_PICTURE}]|\d[.)])\s*[\"“„«(\[*_]*\Z")
_ENGLISH = frozenset(FUNCTION_WORDS["en"].split())
_TITLES = frozenset(
    ["Mr", "Mrs", "Ms", "Sir", "Madam", "Madame", "Monsieur", "Herr", "Herrn", "Frau", "Señor"]
)
_WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")


def names_in(text: str, language: str) -> Iterator[tuple[int, int, bool]]:
    """The places of capitalised words that stand where an ordinary word has no capital.

    German writes all nouns so: there two in a row are a name, and what follows a title.
    """
    lower = {word for word in _WORD.findall(text) if word.islower()}
    own = frozenset(FUNCTION_WORDS.get(language, "").split())
    line = (-1, -1, False)
    for match in _RUN.finditer(text):
        start, end = match.span("run")
        if start >= line[1]:
            first = text.rfind("\n", 0, start) + 1
            last = text.find("\n", start) % (len(text) + 1)
            line = (first, last, _is_title_or_shouted(text[first:last]))
        tokens = list(_WORD.finditer(text, start, end))
        opens = not match["title"] and _OPENS.search(text[max(0, start - 12) : start])
        if opens or tokens[0].group().lower().split("'")[0] in _ENGLISH | own:
            tokens = tokens[1:]
        words = [token.group().removesuffix("'s") for token in tokens]
        words = [] if _TITLES.issuperset(words) else words
        ordinary = all(word.lower() in lower | _ENGLISH for word in words)
        german = language == "de" and len(words) < 2 and not match["title"]
        if not ordinary and not (line[2] and language != "de") and not german:
            end = tokens[-1].start() + len(words[-1])
            # The line that greets may name a role: Dear Valued Customer.
            greets = line[1] - line[0] < 50 and text[line[0] : line[1]].rstrip().endswith(",")
            nouns = language == "de" and not match["title"]
            weak = greets or nouns or all(word.isupper() for word in words)
            yield tokens[0].start(), end, weak


def _is_title_or_shouted(line: str) -> bool:
    words = [word for word in _WORD.findall(line[:2000]) if len(word) > 3]
    shouted = sum(word.isupper() for word in words) > 0.6 * len(words)
    titled = len(words) > 2 and sum(w[0].isupper() for w in words) > 0.7 * len(words)
    return len(words) > 1 and (shouted or (titled and line.rstrip()[-1:] not in ".!?…,;"))
