"""AsciiDoc: what of it is not prose."""

import re
from collections.abc import Iterator

from sifaka.text.formats.marks import Lines, Mark, Opening, marks_in_lines
from sifaka.text.prose import Span

_CONTAINER = r"(?:={4,}|\*{4,}|_{4,}|--)[ \t]*$"
_VERBATIM = r"(?:-{4,}|\.{4,}|\+{4,}|/{4,}|```[\w,+-]*|[|,:!]={3,})[ \t]*$"
_ATTRIBUTES = r"\[(?:\[[^\]\n]*\]|[^\]\n]*)\][ \t]*$"
_VERBATIM_STYLE = (
    r"(?i:\[(?:source|listing|literal|stem|latexmath|asciimath|pass|comment|verse|ditaa|graphviz"
    r"|plantuml|mermaid|a2s|,)[\],%.#]|\[subs=)"
)
_SEPARATOR = (
    r"(?://|(?:\w[\w-]*)::[^\s\[]*\[.*\][ \t]*$|[ \t]*(?:\+|'''|<<<|---|\*\*\*|\* \* \*)[ \t]*$).*"
)
"""Comments, macros of their own line, rules, and what joins a block to an item."""
_HEADING = r"(?:={1,6}|#{1,6})[ \t]+(?=\S)"
_ITEM = r"[ \t]*(?:[*.]{1,6}|-|\d{1,3}\.|[a-zA-Z]\.|<(?:\d+|\.)>)[ \t]+(?:\[[ xX*]\][ \t]+)?"
_TERM_END = r"(?::{2,4}(?:[ \t]+|$)|;;[ \t]*$)"
_NO_PARAGRAPH = re.compile(
    rf"[ \t]*$|{_CONTAINER}|{_VERBATIM}|{_ATTRIBUTES}|{_SEPARATOR}|{_HEADING}|\.[^. ]"
)
"""A line after which a paragraph begins."""
_FIXED = re.compile(rf"{_CONTAINER}|{_VERBATIM}")
_ABOVE_A_BLOCK = re.compile(rf"{_ATTRIBUTES}|//|\.[^. ]")
_TITLE = re.compile(r"(?=\S)(?=.*[^\W_])")
_UNDERLINE = re.compile(r"(?:=+|-+|~+|\^+|\++)[ \t]*$")


def _closed(lines: Lines, number: int) -> int:
    """After the line that reads as the first; to the end of a text without one."""
    mark = lines[number].text.rstrip()
    return lines.after(number + 1, "```" if mark.startswith("```") else mark, len(lines))


def _styled(lines: Lines, number: int) -> int:
    """After the block or the paragraph that attributes make verbatim."""
    first = number + 1
    while first < len(lines) and _ABOVE_A_BLOCK.match(lines[first].text):
        first += 1
    if first < len(lines) and _FIXED.match(lines[first].text):
        return _closed(lines, first)
    return _paragraph(lines, first)


def _paragraph(lines: Lines, number: int) -> int:
    end = lines.paragraph_end(number)
    return next((n for n in range(number, end) if lines[n].text.strip() == "+"), end)


def _continued(lines: Lines, number: int) -> int:
    """After a line and those that go on with it."""
    while number < len(lines) - 1 and lines[number].text.rstrip().endswith((" \\", " +")):
        number += 1
    return number + 1


def _begins(lines: Lines, number: int) -> bool:
    """True of a line that no paragraph is above."""
    return number == 0 or bool(_NO_PARAGRAPH.match(lines[number - 1].text))


def _indented(lines: Lines, number: int) -> int:
    return _paragraph(lines, number) if _begins(lines, number) else number


def _block_title(lines: Lines, number: int) -> int:
    return number + _begins(lines, number)


def _titled(lines: Lines, number: int) -> int:
    """After the line under a title that is as long as it."""
    below = lines[number + 1].text.rstrip() if number + 1 < len(lines) else ""
    title = lines[number].text.rstrip()
    fits = len(below) > 1 and abs(len(title) - len(below)) <= 2 and _UNDERLINE.match(below)
    above = lines[number - 1].text.strip() if number else ""
    return (
        number + 2
        if fits and (not above or (above[0] != "." and _ABOVE_A_BLOCK.match(above)))
        else number
    )


_OPENINGS = (
    Opening(re.compile(rf"{_VERBATIM}"), _closed),
    Opening(re.compile(_CONTAINER)),
    Opening(re.compile(rf"(?={_VERBATIM_STYLE}){_ATTRIBUTES}"), _styled),
    Opening(re.compile(_ATTRIBUTES)),
    Opening(_TITLE, _titled),
    Opening(re.compile(r":!?[\w][\w-]*!?:(?:[ \t].*)?$"), _continued),
    Opening(re.compile(_SEPARATOR)),
    # A literal paragraph.
    Opening(
        re.compile(rf"[ \t]+(?=\S)(?!{_ITEM}|.*?{_TERM_END}).*"),
        _indented,
    ),
    Opening(re.compile(_HEADING)),
    # The title of a block.
    Opening(re.compile(r"\.(?=[^. ])"), _block_title),
    Opening(re.compile(_ITEM)),
    # Terms that are an option, a name or code, and those that are prose.
    Opening(re.compile(rf"[ \t]*(?:[-<`'$+/].*?|\S+?){_TERM_END}")),
    Opening(re.compile(rf".*?({_TERM_END})")),
)
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
    yield from marks_in_lines(text, _OPENINGS, _INLINE)
    targets = {match.group(1).strip() for match in _TARGET.finditer(text)}
    for line in Lines(text) if targets else ():
        if line.text.lstrip("=# \t").strip() in targets:
            yield Mark(line.start, line.end)


def underlined(text: str) -> Iterator[Span]:
    """The places of titles, whose underlines have to be as long as they are."""
    lines = Lines(text)
    for number, line in enumerate(lines):
        if _TITLE.match(line.text) and _titled(lines, number) > number:
            yield line.start, line.end
