"""Recognises a format by the look of the text alone, and only where it is plain."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from sifaka.text.formats import Format
from sifaka.text.markdown import front_matter
from sifaka.text.tables import patterns_of

_LOOKED_AT = 200_000
"""Characters of a text that are examined."""
_TAGS = 50
"""Elements of MDX that are examined."""

_LOOK = patterns_of(__file__, "look")
_BEGINNINGS: Mapping[re.Pattern[str], Format] = {
    _LOOK["html"]: Format.HTML,
    _LOOK["xml"]: Format.DATA,
    _LOOK["roff"]: Format.SOURCE,
    re.compile("#!"): Format.SOURCE,
}


def by_look(text: str) -> Format:
    """The format that a text shows; Markdown, as which plain text reads too, in doubt."""
    start = front_matter(text)
    head = text[start : start + _LOOKED_AT].replace("\r\n", "\n").removeprefix("\ufeff")
    if not start:
        if _is_json(text):
            return Format.DATA
        begun = (format_ for beginning, format_ in _BEGINNINGS.items() if beginning.match(head))
        if (format_ := next(begun, None)) is not None:
            return format_
    bare = _LOOK["fenced"].sub("", head)  # any format may be shown in a fence
    return next((format_ for format_, test in _TESTS if test(bare)), Format.MARKDOWN)


def _is_json(text: str) -> bool:
    """True when the text is a JSON object or array."""
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_latex(text: str) -> bool:
    if _LOOK["latex"].search(text):
        return True
    names = [match.group(1) for match in _LOOK["latex_line"].finditer(text)]
    is_often = len(set(names)) >= 2 and len(names) >= 3 and len(names) * 20 >= text.count("\n")
    return is_often and not _LOOK["heading"].search(text)


def _is_mdx(text: str) -> bool:
    names = {match.group(1) for match in islice(_LOOK["mdx_tag"].finditer(text), _TAGS)}
    # Elements that are closed, or empty ones as in XML; `<name>` alone is a placeholder.
    is_closed = names and ("/>" in text or any(f"</{name}>" in text for name in names))
    return bool(is_closed or (_LOOK["mdx_module"].search(text) and _LOOK["heading"].search(text)))


def _is_rst(text: str) -> bool:
    if _LOOK["rst"].search(text):
        return True
    others = (_LOOK["heading"], _LOOK["asciidoc"], _LOOK["asciidoc_sign"])
    is_other = any(sign.search(text) for sign in others) or not _LOOK["rst_literal"].search(text)
    return not is_other and any(
        len(match["title"].rstrip()) <= len(match["line"])
        for match in _LOOK["rst_title"].finditer(text)
    )


def _is_asciidoc(text: str) -> bool:
    """True of a text in AsciiDoc, which has no reader."""
    titles = {len(match.group(1)) for match in _LOOK["asciidoc_title"].finditer(text)}
    if _LOOK["asciidoc"].search(text):
        return bool(titles) or not _LOOK["heading"].search(text)
    listed = _LOOK["asciidoc_item"].search(text) and _LOOK["setext"].search(text)
    return bool(listed) or len(titles) >= 2


def _is_source(text: str) -> bool:
    """True when definitions and lines of code are most of a text."""
    lines = [line for line in text.split("\n") if line.strip()]
    definitions = sum(1 for _ in _LOOK["definition"].finditer(text))
    if _LOOK["org"].search(text):
        return True
    if definitions < 2 or definitions * 60 < len(lines) or _LOOK["heading_and_prose"].search(text):
        return False
    code = sum(
        bool(_LOOK["definition"].match(line) or _LOOK["code_line"].fullmatch(line[:500]))
        for line in lines
    )
    return code * 5 >= len(lines) * 4 or (code * 5 >= len(lines) * 3 and definitions >= 5)


# In the order in which they are asked: what is rarer in other formats comes first.
_TESTS: Sequence[tuple[Format, Callable[[str], object]]] = (
    (Format.DATA, _LOOK["catalogue"].search),
    (Format.SOURCE, _is_source),
    (Format.LATEX, _is_latex),
    (Format.MDX, _is_mdx),
    (Format.RST, _is_rst),
    (Format.SOURCE, _is_asciidoc),
)
