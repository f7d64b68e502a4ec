"""Org: what of it is not prose."""

import re
from collections.abc import Callable, Iterator

from sifaka.text.formats.marks import Lines, Mark, Opening, either, marks_in_lines

_PROSE_BLOCKS = either(
    """
    quote center abstract note tip warning info details summary important caution attention
    proof theorem lemma definition remark sidebar aside
    """
)


def _closed_by(closing: str, *, below: bool = True) -> Callable[[Lines, int], int]:
    """The end of a block whose last line is made of its first one; what is not closed is a line."""

    def end(lines: Lines, number: int) -> int:
        name = re.sub(r"\W*begin(?:_|\{)|[}\s].*", "", lines[number].text.strip().lower())
        return lines.after(number + below, closing.format(name), number + 1)

    return end


_OPENINGS = (
    Opening(re.compile(rf"(?i:[ \t]*#\+begin_(?:{_PROSE_BLOCKS})(?!\S)).*")),
    Opening(re.compile(r"(?i:[ \t]*#\+begin_\S).*"), _closed_by("#+end_{}")),
    Opening(re.compile(r"(?i:[ \t]*#\+begin:).*"), _closed_by("#+end:")),
    Opening(re.compile(r"[ \t]*\\begin\{[\w*]+\}.*"), _closed_by("\\end{{{}}}", below=False)),
    Opening(re.compile(r"[ \t]*:[\w-]+:[ \t]*$"), _closed_by(":end:")),
    Opening(re.compile(r"(?i:[ \t]*#\+(?:title|subtitle|caption)(?:\[[^\]\n]*\])?:)[ \t]*")),
    # Comments and keywords, fixed lines, tables, times, rules.
    Opening(
        re.compile(
            r"[ \t]*(?:#(?:[ \t+]|$)|:(?:[ \t]|$)|\||(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):"
            r"|-{5,}[ \t]*$).*"
        )
    ),
    # Headlines.
    Opening(
        re.compile(
            r"(\*+[ \t]+"
            r"(?:(?:TODO|DONE|NEXT|WAIT|WAITING|HOLD|CANCELED|CANCELLED|STARTED|SOMEDAY)[ \t]+)?"
            r"(?:\[#\w\][ \t]+)?)[^\n]*?([ \t]+:[\w@#%:]+:[ \t]*)?$"
        )
    ),
    # Items of lists.
    Opening(
        re.compile(
            r"[ \t]*(?:[-+]|\*(?<=[ \t]\*)|\d{1,3}[.)]|[a-zA-Z][.)])[ \t]+"
            r"(?:\[@\d+\][ \t]*)?(?:\[[ xX-]\][ \t]+)?"
        )
    ),
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
    return marks_in_lines(text, _OPENINGS, _INLINE)
