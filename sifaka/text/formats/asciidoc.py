"""AsciiDoc: what of it is not prose."""

import re
from collections.abc import Iterator, Sequence

from sifaka.text.formats.marks import Line, Mark, lines_of, paragraphs, view, whole
from sifaka.text.prose import Span

_VERBATIM = re.compile(r"(?P<mark>-{4,}|\.{4,}|\+{4,}|/{4,}|```[\w,+-]*|[|,:!]={3,})[ \t]*$")
_CONTAINER = re.compile(r"(?:={4,}|\*{4,}|_{4,}|--)[ \t]*$")
_UNDERLINE = re.compile(r"(?:=+|-+|~+|\^+|\++)[ \t]*$")
_ATTRIBUTES = re.compile(r"\[(?:\[[^\]\n]*\]|[^\]\n]*)\][ \t]*$")
_VERBATIM_STYLE = re.compile(
    r"\[(?:source|listing|literal|stem|latexmath|asciimath|pass|comment|verse|ditaa|graphviz"
    r"|plantuml|mermaid|a2s|,)[\],%.#]|\[subs=",
    re.IGNORECASE,
)
_ENTRY = re.compile(r":!?[\w][\w-]*!?:(?:[ \t].*)?$")
_MACRO = re.compile(r"(?:\w[\w-]*)::[^\s\[]*\[.*\][ \t]*$")
_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(?=\S)")
_ITEM = re.compile(
    r"[ \t]*(?:[*.]{1,6}|-|\d{1,3}\.|[a-zA-Z]\.|<(?:\d+|\.)>)[ \t]+(?:\[[ xX*]\][ \t]+)?"
)
_TERM = re.compile(r"[^\n]*?(?::{2,4}|;;)(?:[ \t]|$)")
_TARGET = re.compile(r"(?:<<|xref:)#?([^<>\[\],\n]{1,200})")
"""What a cross reference names, which may be the text of a title."""
_INLINE = re.compile(
    r"""``[^`'\n]{1,200}'' | ``[^`\s](?:[^`\n]|\n(?!\n)){0,300}``
    | (?<![\w`])`[^`\s](?:[^`\n]|\n(?!\n)){0,300}`(?![\w`])
    | \+\+\+[^+\n]{1,300}\+\+\+ | \+\+[^+\n]{1,300}\+\+
    | (?<![\w+])\+[^+\s](?:[^+\n]{0,200}[^+\s])?\+(?![\w+])
    | \$\$[^$\n]{1,300}\$\$
    | <<[^<>\n]{1,300}>>
    | \[\[[^\[\]\n]{1,100}\]\] | \(\(\([^()\n]{1,200}\)\)\)
    | (?<![\w:])[a-zA-Z][\w+-]{0,30}:[^\s\[\]<>"']{0,300}
        \[(?:[^\]\n\\]|\\.|\n(?!\n)){0,300}\]
    | \{[\w!-][\w:+-]{0,80}\}
    | (?<!\w)\[[\w.#%-][\w.#%\s-]{0,80}\](?=[\#*_`])
    | <\d{1,3}>
    | \\[^\s\w]""",
    re.VERBOSE,
)


def asciidoc(text: str) -> Iterator[Mark]:
    """Listings, literals, passthroughs, comments, tables, attributes, macros, lines of titles.

    What stands in examples, sidebars and quotes is prose.
    """
    blocks = list(_blocks(lines_of(text)))
    yield from blocks
    prose = view(text, blocks)
    for start, end in paragraphs(prose):
        for match in _INLINE.finditer(prose, start, end):
            yield Mark(*match.span(), "code")
    targets = {match.group(1).strip() for match in _TARGET.finditer(text)}
    for line in lines_of(text) if targets else ():
        if line.text.lstrip("=# \t").strip() in targets:
            yield Mark(line.start, line.end)


def underlined(text: str) -> Iterator[Span]:
    """The places of titles, whose underlines have to be as long as they are."""
    lines = lines_of(text)
    for number in range(len(lines) - 1):
        if _is_title(lines, number):
            yield lines[number].start, lines[number].end


def _is_title(lines: Sequence[Line], number: int) -> bool:
    """True when the next line underlines this one, and no paragraph is above."""
    if number + 1 >= len(lines) or not _UNDERLINE.match(lines[number + 1].text):
        return False
    title, rule = lines[number].text.rstrip(), lines[number + 1].text.rstrip()
    above = lines[number - 1] if number else None
    return (
        abs(len(title) - len(rule)) <= 2
        and len(rule) > 1
        and any(char.isalnum() for char in title)
        and not title[0].isspace()
        and (
            above is None
            or above.blank
            or bool(_ATTRIBUTES.match(above.text))
            or above.text.startswith("//")
        )
    )


def _blocks(lines: Sequence[Line]) -> Iterator[Mark]:
    number = 0
    style = False
    """True when attributes above say that the next block is verbatim."""
    after_blank = True
    while number < len(lines):
        line = lines[number]
        text = line.text
        after = number + 1
        was_blank, after_blank = after_blank, line.blank
        if line.blank:
            number = after
            style = False
            continue
        if verbatim := _VERBATIM.match(text):
            after = _closing(lines, number, _end_mark(verbatim["mark"]))
            yield from whole(lines[number:after])
            style, after_blank = False, True
        elif _CONTAINER.match(text):
            if style:
                after = _closing(lines, number, text.rstrip())
            yield from whole(lines[number:after])
            style, after_blank = False, True
        elif _ATTRIBUTES.match(text):
            style = style or bool(_VERBATIM_STYLE.match(text))
            yield Mark(line.start, line.end)
            after_blank = True
        elif _is_title(lines, number):
            yield Mark(lines[number + 1].start, lines[number + 1].end)
            after, style, after_blank = number + 2, False, True
        elif _ENTRY.match(text):
            while after < len(lines) and lines[after - 1].text.rstrip().endswith((" \\", " +")):
                after += 1
            yield from whole(lines[number:after])
        elif (
            text.startswith("//")
            or _MACRO.match(text)
            or text.strip() in {"+", "'''", "<<<", "---", "***", "* * *"}
        ):
            yield Mark(line.start, line.end)
            after_blank = True
        elif style or (was_blank and line.indent and not _ITEM.match(text) and not _is_term(text)):
            # A literal paragraph.
            while (
                after < len(lines) and not lines[after].blank and lines[after].text.strip() != "+"
            ):
                after += 1
            yield from whole(lines[number:after])
            style = False
        elif heading := _HEADING.match(text):
            yield Mark(line.start, line.start + heading.end())
            after_blank = True
        elif text[0] == "." and text[1:2] not in {".", " ", ""} and was_blank:
            yield Mark(line.start, line.start + 1)
            after_blank = True
        elif item := _ITEM.match(text):
            yield Mark(line.start, line.start + item.end())
        elif (term := _TERM.match(text)) and _is_term(text):
            yield from _term(line, term)
        number = after


def _is_term(text: str) -> bool:
    match = _TERM.match(text)
    return (match is not None and "::" in match.group()) or text.rstrip().endswith(";;")


def _term(line: Line, match: re.Match[str]) -> Iterator[Mark]:
    """The mark after a term, and the term itself where it is an option, a name or code."""
    words = match.group().rstrip().rstrip(":;").strip()
    if words[:1] in {"-", "<", "`", "'", "$", "+", "/"} or len(words.split()) == 1:
        yield Mark(line.start, line.start + match.end())
    else:
        yield Mark(line.start + len(match.group().rstrip().rstrip(":;")), line.start + match.end())


def _end_mark(mark: str) -> str:
    return "```" if mark.startswith("```") else mark


def _closing(lines: Sequence[Line], first: int, mark: str) -> int:
    """The number of the line after a block; one that is never closed goes on to the end."""
    for number in range(first + 1, len(lines)):
        if lines[number].text.rstrip() == mark:
            return number + 1
    return len(lines)
