"""The parts of a text that a rewrite should keep: numbers, URLs, quotes, code, names.

Each kind is a pair of functions: `*_in(text)` lists what an original contains, as a mapping from
the form that is compared to the form that is shown; `keeps_*(text)` tells for one compared form
whether a rewritten text still has it.
"""

import re
import unicodedata
from collections.abc import Callable

from sifaka.text import prose
from sifaka.text.markdown import code_spans
from sifaka.text.prose import blanked, sentence_spans

Wanted = dict[str, str]
Keeps = Callable[[str], bool]

_DATE = r"\d{4}-\d{2}-\d{2}(?!\d)"
_SIGN = r"(?:(?<![\w.,)\]])[-−])?"
_GROUPED = r"\d{1,3}(?:,\d{3})+(?![\d,])|\d{1,3}(?:[’'\u00a0\u202f\u2009]\d{3})+(?!\d)"
_PLAIN = r"\d+(?:[.,:]\d+)*"
_NUMBER = re.compile(rf"{_DATE}|{_SIGN}(?:(?:{_GROUPED})(?:\.\d+)?|{_PLAIN})")
_LIST_MARKER = re.compile(r"^[ \t>]*\d{1,3}[.)](?=[ \t])", re.MULTILINE)
_QUOTES = re.compile(
    r"“([^“”\n]{1,1000})”|„([^„“”\n]{1,1000})[“”]|«([^«»\n]{1,1000})»|「([^「」\n]{1,1000})」|"
    r'"(?<![\w"].)(?=\S)([^"\n]{1,1000})(?<=\S)"(?![\w"])'
)
_NAME = re.compile(
    r"(?<![^\W\d_])[^\W\d_]{0,60}[a-z][A-Z][^\W_]*|[A-Z][A-Z0-9]+s?\b|[A-ZÀ-ÖØ-Þ][^\W\d_]+(?:[-’'][^\W\d_]+)*"
)
_SAME = str.maketrans("“”„«»‘’‚−–\u00a0\u202f", '"""""\'\'\'--  ')


def numbers_in(text: str) -> Wanted:
    """Numbers outside URLs, code and the markers of ordered lists."""
    hidden = blanked(text, (*prose.urls(text), *code_spans(text)))
    hidden = _LIST_MARKER.sub(lambda match: " " * len(match.group()), hidden)
    return {_number(match.group()): match.group() for match in _NUMBER.finditer(hidden)}


def keeps_numbers(text: str) -> Keeps:
    """Compares digits: grouping is ignored (1,000 is 1000), precision is not (1.50 is not 1.5).

    Digits of all scripts are equal, and a number may have moved into a URL, code or a list marker.
    """
    return {_number(match.group()) for match in _NUMBER.finditer(text)}.__contains__


def urls_in(text: str) -> Wanted:
    """URLs as `sifaka.text.prose` finds them."""
    found = (text[start:end] for start, end in prose.urls(text))
    return {url.rstrip("/"): url for url in found}


def keeps_urls(text: str) -> Keeps:
    """Compares URLs character by character, but for a slash at the end."""
    return set(urls_in(text)).__contains__


def quotes_in(text: str) -> Wanted:
    """The quotations in double quotation marks of any style, outside code."""
    quotes = _QUOTES.finditer(blanked(text, code_spans(text)))
    found = (match[match.lastindex or 0] for match in quotes)
    return {key: quote for quote in found if (key := flat(quote).strip(" .,;:!?"))}


def keeps_quotes(text: str) -> Keeps:
    """Compares wording; the style of the marks, white space and final punctuation may change."""
    return flat(text).__contains__


def code_in(text: str) -> Wanted:
    """Fenced blocks and inline code, without their marks."""
    found = (text[start:end] for start, end in code_spans(text))
    return {key: piece for piece in found if (key := code_body(piece))}


def keeps_code(text: str) -> Keeps:
    """Compares code character by character, but for white space."""
    # Code that lost its marks is still there; that is for a format check to judge.
    return " ".join(text.split()).__contains__


def names_in(text: str) -> Wanted:
    """Capitalised words inside sentences, acronyms and CamelCase: a guess, for English."""
    hidden = blanked(text, (*prose.urls(text), *code_spans(text)))
    starts = {start for start, _ in sentence_spans(hidden)}
    found: Wanted = {}
    for match in _NAME.finditer(hidden):
        word = match.group()
        before = hidden[max(0, match.start() - 2) : match.start()]
        opening = match.start() in starts or not before.strip() or before[-1] in '\n"“‘(*_#>-•'
        plain = word.istitle() or (word[0].isupper() and word[1:].islower())
        inside_word = before[-1:].isalnum()
        if inside_word or word in {"I", "OK"} or (plain and opening):
            continue
        found[word] = word
    return found


def keeps_names(text: str) -> Keeps:
    """Compares upper and lower case as they are."""
    return text.__contains__


def _number(token: str) -> str:
    digits = token.replace("−", "-")
    if not digits.isascii():
        digits = "".join(str(unicodedata.digit(each, each)) for each in digits)
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        return digits.replace(",", "")
    return re.sub(r"[’'\u00a0\u202f\u2009]", "", digits)


def code_body(piece: str) -> str:
    """A piece of code without its marks, white space aside."""
    if piece.startswith(("```", "~~~")):
        lines = piece.splitlines()[1:]
        if lines and not lines[-1].strip("`~ \t"):
            lines.pop()
        return " ".join(" ".join(lines).split())
    return " ".join(piece.strip("`").split())


def flat(text: str) -> str:
    """A text in one line, with one kind of quotation marks and dashes."""
    return " ".join(unicodedata.normalize("NFC", text).translate(_SAME).split())
