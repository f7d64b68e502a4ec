"""Org: what of it is not prose."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from sifaka.text.formats.marks import Line, Mark, lines_of, names, paragraphs, view, whole

_BEGIN = re.compile(r"[ \t]*#\+begin_(\S+)", re.IGNORECASE)
_END = re.compile(r"[ \t]*#\+end_(\S+)[ \t]*$", re.IGNORECASE)
_DYNAMIC = re.compile(r"[ \t]*#\+begin:", re.IGNORECASE)
_DYNAMIC_END = re.compile(r"[ \t]*#\+end:?[ \t]*$", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"[ \t]*\\begin\{([\w*]+)\}")
_ENVIRONMENT_END = re.compile(r".*\\end\{([\w*]+)\}[ \t]*$")
_DRAWER = re.compile(r"[ \t]*:[\w-]+:[ \t]*$")
_PROSE_BLOCKS = names(
    """
    quote center abstract note tip warning info details summary important caution attention
    proof theorem lemma definition remark sidebar aside
    """
)
_KEYWORD = re.compile(r"[ \t]*#\+(?P<name>[^\s:\[]+)(?:\[[^\]\n]*\])?:[ \t]*", re.IGNORECASE)
_PROSE_KEYWORDS = frozenset({"title", "subtitle", "caption"})
_NO_PROSE = re.compile(
    r"[ \t]*(?:#(?:[ \t+]|$)|:(?:[ \t]|$)|\||(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):|-{5,}[ \t]*$)"
)
_HEADLINE = re.compile(
    r"(?P<head>\*+[ \t]+"
    r"(?:(?:TODO|DONE|NEXT|WAIT|WAITING|HOLD|CANCELED|CANCELLED|STARTED|SOMEDAY)[ \t]+)?"
    r"(?:\[#\w\][ \t]+)?)[^\n]*?(?P<tags>[ \t]+:[\w@#%:]+:[ \t]*)?$"
)
_ITEM = re.compile(
    r"[ \t]*(?:[-+]|\*(?<=[ \t]\*)|\d{1,3}[.)]|[a-zA-Z][.)])[ \t]+"
    r"(?:\[@\d+\][ \t]*)?(?:\[[ xX-]\][ \t]+)?"
)
_INLINE = re.compile(
    r"""\[\[[^\[\]\n]{1,500}\]\](?!\[) | \[\[[^\[\]\n]{1,500}\]\[(?P<description>[^\[\]]{1,500})\]\]
    | (?<![\w])(?P<mark>[=~])(?![\s=~])(?:[^\n]|\n(?=[ \t]*\S)){1,120}?(?<!\s)(?P=mark)
        (?=[\s.,;:!?'")}\\\[-]|\Z)
    | \[(?:fn|cite)(?:/[\w/-]{1,40})?:[^\[\]\n]{0,200}\] | \[cite[^\[\]\n]{0,200}\]
    | src_\w+(?:\[[^\[\]\n]{0,200}\])?\{[^{}\n]{0,300}\}
    | call_\w+(?:\[[^\[\]\n]{0,100}\])?\([^()\n]{0,200}\)
    | @@[^@\n]{1,300}@@ | \{\{\{[^{}]{1,300}\}\}\} | <<<?[^<>\n]{1,200}>>>?
    | [<\[]\d{4}-\d\d-\d\d[^<>\[\]\n]{0,60}[>\]] | \[\d*(?:/\d*|%)\]
    | \\\([^\n]{1,300}?\\\) | \\\[(?:[^\\]|\\(?!\]))*?\\\] | \\[a-zA-Z]+(?:\{[^{}\n]{0,200}\})*""",
    re.VERBOSE,
)


def org(text: str) -> Iterator[Mark]:
    """Blocks of code and examples, drawers, keywords, tables, comments, links, verbatim words."""
    blocks = list(_blocks(lines_of(text)))
    yield from blocks
    prose = view(text, blocks)
    for start, end in paragraphs(prose):
        for match in _INLINE.finditer(prose, start, end):
            if match["description"] and "." not in match["description"].strip("."):
                yield Mark(match.start(), match.start("description"), "style")
                yield Mark(match.end("description"), match.end(), "style")
            else:
                yield Mark(*match.span(), "code")


def _blocks(lines: Sequence[Line]) -> Iterator[Mark]:
    ends = _Ends(lines)
    number = 0
    while number < len(lines):
        line = lines[number]
        after = number + 1
        if begin := _BEGIN.match(line.text):
            name = begin.group(1).lower()
            if name not in _PROSE_BLOCKS:
                after = ends.after(number, f"#{name}")
            yield from whole(lines[number:after])
        elif _DYNAMIC.match(line.text):
            after = ends.after(number, "#")
            yield from whole(lines[number:after])
        elif environment := _ENVIRONMENT.match(line.text):
            after = ends.after(number, f"\\{environment.group(1)}", same_line=True)
            yield from whole(lines[number:after])
        elif _DRAWER.match(line.text):
            after = ends.after(number, ":")
            yield from whole(lines[number:after])
        elif (keyword := _KEYWORD.match(line.text)) and keyword["name"].lower() in _PROSE_KEYWORDS:
            yield Mark(line.start, line.start + keyword.end())
        elif _NO_PROSE.match(line.text):
            yield Mark(line.start, line.end)
        elif headline := _HEADLINE.match(line.text):
            yield Mark(line.start, line.start + headline.end("head"))
            if headline["tags"]:
                yield Mark(line.start + headline.start("tags"), line.end)
        elif item := _ITEM.match(line.text):
            yield Mark(line.start, line.start + item.end())
        number = after


class _Ends:
    """The lines that end something, by what they end."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._ends: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            if mark := _ended(line.text):
                self._ends.setdefault(mark, []).append(number)

    def after(self, first: int, mark: str, *, same_line: bool = False) -> int:
        """The number of the line after a block; what is never ended is one line."""
        ends = self._ends.get(mark, [])
        at = bisect_right(ends, first - same_line)
        return ends[at] + 1 if at < len(ends) else first + 1


def _ended(text: str) -> str:
    if match := _END.match(text):
        return f"#{match.group(1).lower()}"
    if _DYNAMIC_END.match(text):
        return "#"
    if text.strip().lower() == ":end:":
        return ":"
    if match := _ENVIRONMENT_END.match(text):
        return f"\\{match.group(1)}"
    return ""
