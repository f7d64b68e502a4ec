"""The parts inside a line that are not prose: code, addresses, names of things, quotes."""

import re
from collections.abc import Iterable, Iterator, Mapping

from sifaka.text.formats import Format
from sifaka.text.formats.markup_spans import Closings
from sifaka.text.markdown import code_spans, read_markdown
from sifaka.text.prose import Span, urls

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)*")
_LINK_DESTINATION = re.compile(
    r"\]\([^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?(?:\s[^()\n]{0,200})?\)"
    r"|^ {0,3}\[[^\]\n]+\]:.*",
    re.MULTILINE,
)
_LABEL = re.compile(r"\[([^\[\]]{1,200})\](?![(:])")
_REFERENCE = re.compile(r"\]\[[^\]\n]*\]")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,300}>|&#?\w{2,10};")
_ELEMENT = re.compile(
    r"<(pre|code|script|style|kbd|samp|var|math|svg)\b[^<>]{0,300}>", re.IGNORECASE
)
_DELIMITERS = (("<!--", "-->"), ("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"))
# "$5 and $10" is money: a formula has no space inside its dollar signs and no digit after them.
_MATH = re.compile(
    r"(?<![\w$\\])\$(?![\s\d])[^$\n]{0,200}?(?<!\s)\$(?![\w$])"
    r"|(?<![\w$\\])\$\d[^$\n]{0,200}?[\\^_{}=+*<>][^$\n]{0,200}?(?<!\s)\$(?![\w$])"
)
# A typographic quote after a euro sign is half of a mangled dash, not a quote.
_QUOTE = re.compile(
    r"\"(?<![\w\"].)(?!\s)[^\"\n]{1,120}(?<!\s)\"(?!\w)|“(?<!€.)[^”\n]{1,120}(?<!€)”|«[^»\n]{1,120}»|„[^“”\n]{1,120}[“”]"
    r"|‘(?<![\w‘].)(?!\s)[^‘\n]{1,80}?(?<!\s)’(?!\w)|'(?<![\w'].)(?!\s)[^'\n]{1,80}(?<!\s)'(?!\w)"
)
_CALL = re.compile(r"(?<![\w.:])[\w.:]{1,100}\([^\s()]{0,200}\)")
_PLACEHOLDER = re.compile(r"\$?\{[^{}\n]{0,200}\}|%[({]?\w+[)}]?s?\b|\[\w+(?:[.=:]\w+)+\]")
# Ordinary words with their punctuation are left out here already, for speed.
_APART = r"\s()\[\]{}<>\"“”«»—"
_TOKEN = re.compile(
    rf"(?<![^{_APART}])(?![A-Z]?[a-z]+(?:['’][a-z]+)?[.,;:!?]?(?:[{_APART}]|\Z))[^{_APART}]+"
)
_EDGES = "*_~.,;:!?'’‘…`"
_PATH = re.compile(
    r"(?:~|\.{1,2})?[/\\][\w.@~/\\-]|[A-Za-z]:[/\\]|[\w.@*~-]+[/\\][\w.*@~/\\-]*|\.[A-Za-z]\w*$"
)
_FLAG = re.compile(r"(?:--?|\+)[A-Za-z?][\w-]*(?:=.*)?$")
_IDENTIFIER = re.compile(
    r"""\w_\w | ^_+\w | \w_+$          # snake_case, _private, trailing_
    |   [a-z][A-Z]                     # camelCase, PascalCase
    |   \d[A-Za-z] | [A-Za-z]\d        # utf8, 2fa, 0x1f, commit hashes
    |   \w\.\w | \w::?\w | ->          # dotted.names, Class::method, key:value
    |   [=@\\|^#$%&+`]                 # assignments, decorators, anchors, variables
    |   ^[A-Z][A-Z0-9-]+(?:s|es|ed|ing)?$   # CONSTANTS and acronyms
    """,
    re.VERBOSE,
)
_IN_MARKDOWN = {_LINK_DESTINATION: "]", _REFERENCE: "]", _TAG: "<&", _MATH: "$"}
"""What is markup in Markdown and plain text alone, each with marks of which it has one."""
_NAMED = {_QUOTE: "\"“«„‘'", _CALL: "(", _PLACEHOLDER: "{%["}
MARKDOWN_LIKE = frozenset({Format.MARKDOWN, Format.MDX, Format.TEXT})
_LATIN = frozenset({"i.e", "e.g"})


def verbatim_inline(text: str, format: Format, tokens: Iterable[Span]) -> Iterator[Span]:
    """Code, addresses, paths and tags: what a machine reads character by character.

    What is markup in Markdown alone is looked for in Markdown and plain text alone.

    Args:
        text: The text.
        format: Its format.
        tokens: Those that `tokens_of` finds in it.
    """
    yield from urls(text)
    patterns = {_EMAIL: "@"}
    if format in MARKDOWN_LIKE:
        yield from code_spans(text)
        yield from _delimited(text)
        yield from _references(text)
        patterns |= _IN_MARKDOWN
    yield from _places(patterns, text)
    yield from (span for span in tokens if _PATH.match(text[slice(*span)]))


def _places(patterns: Mapping[re.Pattern[str], str], text: str) -> Iterator[Span]:
    """The matches of those patterns of which the text has one of the marks."""
    for pattern, marks in patterns.items():
        if any(mark in text for mark in marks):
            yield from (match.span() for match in pattern.finditer(text))


def _references(text: str) -> Iterator[Span]:
    """Link texts that are labels too: `[guide]` and `[guide][]`, where `guide` is defined."""
    if "]:" not in text:
        return
    defined = read_markdown(text).references
    for match in _LABEL.finditer(text):
        if " ".join(match.group(1).split()).upper() in defined:
            yield match.span()


def named_inline(text: str, tokens: Iterable[Span]) -> Iterator[Span]:
    """Identifiers, flags, placeholders and short quotes: what stands for itself."""
    yield from _places(_NAMED, text)
    for start, end in tokens:
        token = text[start:end]
        if token in _LATIN:
            continue
        if _FLAG.match(token) or _IDENTIFIER.search(token):
            yield start, end


def _delimited(text: str) -> Iterator[Span]:
    """Comments, formulas and elements whose content is not prose, from opening to closing mark."""
    for opening, closing in _DELIMITERS:
        start = text.find(opening)
        while start >= 0 and (end := text.find(closing, start + len(opening))) >= 0:
            yield start, end + len(closing)
            start = text.find(opening, end + len(closing))
    closings = Closings(text.lower())
    position = 0
    for match in _ELEMENT.finditer(text):
        closing = f"</{match.group(1).lower()}"
        if match.start() >= position and (end := closings.after(closing, match.end(), 0)):
            position = end
            yield match.start(), end


def tokens_of(text: str) -> Iterator[Span]:
    """The pieces between white space and brackets, without the punctuation of the sentence."""
    for match in _TOKEN.finditer(text):
        token = match.group()
        # A leading dot or underscore belongs to a name: .gitignore, _private.
        head = token.lstrip("*~,;:!?'’‘…`")
        core = head.rstrip(_EDGES)
        if len(head) > 2 and head[0] == "_" and head.rstrip("*~.,;:!?").endswith("_"):
            core = core.lstrip("_")  # emphasis, not a name
        if core:
            start = match.start() + token.find(core)
            yield start, start + len(core)
