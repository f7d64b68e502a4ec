"""AsciiDoc: what of it is not prose."""

from collections.abc import Iterator

from sifaka.text.formats.markup_spans import Lines, Mark, marks_in_lines, openings
from sifaka.text.prose import Span
from sifaka.text.tables import patterns_of

_PATTERNS = patterns_of(__file__, "asciidoc")


def _closed(lines: Lines, number: int) -> int:
    """After the line that reads as the first; to the end of a text without one."""
    mark = lines[number].text.rstrip()
    return lines.after(number + 1, "```" if mark.startswith("```") else mark, len(lines))


def _styled(lines: Lines, number: int) -> int:
    """After the block or the paragraph that attributes make verbatim."""
    first = number + 1
    while first < len(lines) and _PATTERNS["above_a_block"].match(lines[first].text):
        first += 1
    if first < len(lines) and _PATTERNS["fixed"].match(lines[first].text):
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
    return number == 0 or bool(_PATTERNS["no_paragraph"].match(lines[number - 1].text))


def _indented(lines: Lines, number: int) -> int:
    return _paragraph(lines, number) if _begins(lines, number) else number


def _block_title(lines: Lines, number: int) -> int:
    return number + _begins(lines, number)


def _titled(lines: Lines, number: int) -> int:
    """After the line under a title that is as long as it."""
    below = lines[number + 1].text.rstrip() if number + 1 < len(lines) else ""
    title = lines[number].text.rstrip()
    fits = (
        len(below) > 1 and abs(len(title) - len(below)) <= 2 and _PATTERNS["underline"].match(below)
    )
    above = lines[number - 1].text.strip() if number else ""
    return (
        number + 2
        if fits and (not above or (above[0] != "." and _PATTERNS["above_a_block"].match(above)))
        else number
    )


_OPENINGS = openings(
    "asciidoc",
    closed=_closed,
    styled=_styled,
    titled=_titled,
    continued=_continued,
    indented=_indented,
    block_title=_block_title,
)


def marks(text: str) -> Iterator[Mark]:
    """Listings, literals, passthroughs, comments, tables, attributes, macros, lines of titles.

    What stands in examples, sidebars and quotes is prose.
    """
    yield from marks_in_lines(text, _OPENINGS, _PATTERNS["inline"])
    targets = {match.group(1).strip() for match in _PATTERNS["target"].finditer(text)}
    for line in Lines(text) if targets else ():
        if line.text.lstrip("=# \t").strip() in targets:
            yield Mark(line.start, line.end)


def underlined(text: str) -> Iterator[Span]:
    """The places of titles, whose underlines have to be as long as they are."""
    lines = Lines(text)
    for number, line in enumerate(lines):
        if _PATTERNS["title"].match(line.text) and _titled(lines, number) > number:
            yield line.start, line.end
