"""Documents made with a known text, each hard in one way."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

_FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
"""Has Hebrew; the package `fonts-dejavu-core` of Debian brings it."""
_LEFT = tuple(
    re.findall(
        r"\S+",
        """The harbour ferry leaves the northern pier every twenty minutes. A crossing takes a
        quarter of an hour in calm weather and somewhat longer when the wind blows from the west.
        Tickets are sold at the pier and on board by the crew.""",
    )
)
_RIGHT = tuple(
    re.findall(
        r"\S+",
        """Bicycles travel on the upper deck for a small extra charge. Groups should announce
        themselves a day before so that a second boat can be sent. The service was suspended in
        January after a storm had damaged the landing stage.""",
    )
)
_TABLE = (("Station", "Depth", "Nitrate", "Salmon"), ("Belnice", "4.2 m", "18 mg", "none"),
          ("Ouska", "6.1 m", "7 mg", "12"), ("Karlin", "3.8 m", "9 mg", "31"))  # fmt: skip
_HYPHENATED = ("Every compari-", "son was repeated under labora-",
               "tory conditions, and the obser-", "vations agreed.")  # fmt: skip
_HEBREW = ("הספר", "החדש", "נמצא", "על", "המדף", "העליון", "בספרייה", "העירונית")
_LINE = 16


class Sample(NamedTuple):
    """A document and the words that a person reads in it, in their order."""

    suffix: str
    content: bytes
    words: tuple[str, ...]
    """Empty for one without text, of which a reader should make none up."""


def samples() -> Mapping[str, Sample]:
    """The documents by what is hard about them."""
    return MappingProxyType(
        {
            "two columns, drawn one after the other": _columns(across=False),
            "two columns, drawn line by line": _columns(across=True),
            "a table": _pdf_table(),
            "header and footer": _with_margins(),
            "hyphenated lines": _hyphenated(),
            "right to left": _right_to_left(),
            "a scanned page": _scanned(),
            "DOCX: headings, table": _docx(),
        }
    )


def long_pdf(pages: int) -> bytes:
    """A PDF of many pages, for the time."""

    def draw(page: Any) -> None:
        for _ in range(pages):
            for number in range(40):
                _text(page, 60, 780 - number * 18, " ".join((_LEFT + _RIGHT)[number : number + 12]))
            page.showPage()

    return _pdf(draw)


def _columns(*, across: bool) -> Sample:
    left, right = (_lines(words) for words in (_LEFT, _RIGHT))
    lines = [(60, n, line) for n, line in enumerate(left)]
    lines += [(320, n, line) for n, line in enumerate(right)]
    if across:
        lines.sort(key=lambda line: (line[1], line[0]))
    return Sample(".pdf", _pdf(lambda page: _all(page, lines)), (*_LEFT, *_RIGHT))


def _pdf_table() -> Sample:
    lines = [(60 + 110 * column, row, cell) for row, cells in enumerate(_TABLE)
             for column, cell in enumerate(cells)]  # fmt: skip
    return Sample(".pdf", _pdf(lambda page: _all(page, lines)), _words(_TABLE))


def _with_margins() -> Sample:
    body = [_lines(_LEFT), _lines(_RIGHT)]

    def draw(page: Any) -> None:
        for number, lines in enumerate(body, 1):
            _text(page, 60, 810, "Timetable of the ferry")
            _all(page, [(60, n, line) for n, line in enumerate(lines)])
            _text(page, 60, 30, f"Page {number} of 2")
            page.showPage()

    words = [f"Timetable of the ferry {' '.join(words)} Page {number} of 2".split()
             for number, words in enumerate((_LEFT, _RIGHT), 1)]  # fmt: skip
    return Sample(".pdf", _pdf(draw), tuple(word for page in words for word in page))


def _hyphenated() -> Sample:
    words = " ".join(_HYPHENATED).replace("- ", "").split()
    lines = [(60, n, line) for n, line in enumerate(_HYPHENATED)]
    return Sample(".pdf", _pdf(lambda page: _all(page, lines)), tuple(words))


def _right_to_left() -> Sample:
    def draw(page: Any) -> None:
        import_module("reportlab.pdfbase.pdfmetrics").registerFont(
            import_module("reportlab.pdfbase.ttfonts").TTFont("Hebrew", str(_FONT))
        )
        page.setFont("Hebrew", 12)
        # As it is drawn: the first sign of the line stands on the right.
        page.drawRightString(520, 700, " ".join(_HEBREW)[::-1])

    return Sample(".pdf", _pdf(draw), tuple(_HEBREW))


def _scanned() -> Sample:
    image = import_module("PIL.Image").new("L", (600, 200), 255)
    import_module("PIL.ImageDraw").Draw(image).text((20, 20), " ".join(_LEFT), fill=0)
    reader = import_module("reportlab.lib.utils").ImageReader(image)
    return Sample(".pdf", _pdf(lambda page: page.drawImage(reader, 0, 300, 590, 200)), ())


def _docx() -> Sample:
    document: Any = import_module("docx").Document()
    document.add_heading("Harbour ferry", level=1)
    document.add_paragraph(" ".join(_LEFT))
    table = document.add_table(rows=len(_TABLE), cols=len(_TABLE[0]))
    for row, cells in enumerate(_TABLE):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    document.add_paragraph(" ".join(_RIGHT))
    document.save(saved := BytesIO())
    words = ("Harbour", "ferry", *_LEFT, *_words(_TABLE), *_RIGHT)
    return Sample(".docx", saved.getvalue(), words)


def _words(table: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(word for row in table for cell in row for word in cell.split())


def _lines(words: Sequence[str]) -> list[str]:
    return [" ".join(words[at : at + 6]) for at in range(0, len(words), 6)]


def _all(page: Any, lines: Sequence[tuple[int, int, str]]) -> None:
    for x, row, line in lines:
        _text(page, x, 760 - row * _LINE, line)


def _text(page: Any, x: int, y: int, text: str) -> None:
    page.drawString(x, y, text)


def _pdf(draw: Callable[[Any], None]) -> bytes:
    # invariant: the same bytes on every day.
    page: Any = import_module("reportlab.pdfgen.canvas").Canvas(saved := BytesIO(), invariant=1)
    draw(page)
    page.save()
    return saved.getvalue()
