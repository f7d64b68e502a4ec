"""Draws the icon: `python -m distribution.icon` writes it wherever it is shown.

The head of a sifaka, of seven circles and ellipses. `icon.svg` is for pages, `icon.png` for the
bundle and the registry, and `server/sifaka_mcp/icon.py` holds a small one, which the server sends.
"""

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator
from math import hypot
from typing import NamedTuple

from distribution.identity import ROOT

SVG = ROOT / "distribution" / "icon.svg"
PNG = ROOT / "distribution" / "icon.png"
MODULE = ROOT / "server" / "sifaka_mcp" / "icon.py"
LARGE, SMALL = 512, 48
"""Pixels of a side: hosts ask for 512 in a bundle, and show 48 at most in a list."""


class Shape(NamedTuple):
    """An ellipse in a square of 100 by 100."""

    x: float
    y: float
    width: float
    height: float
    """Halves of the axes."""
    colour: str


_GROUND, _EAR, _FUR, _FACE, _EYE = "#2f6f5e", "#1f2a2b", "#f4efe6", "#26262c", "#f2b632"
SHAPES = (
    Shape(22, 27, 13, 13, _EAR),
    Shape(78, 27, 13, 13, _EAR),
    Shape(50, 52, 41, 39, _FUR),
    Shape(50, 60, 25, 26, _FACE),
    Shape(40, 51, 8, 8, _EYE),
    Shape(60, 51, 8, 8, _EYE),
    Shape(50, 71, 7, 4.5, _FUR),
)
_Colour = tuple[int, int, int]


def main() -> None:
    """Write the files."""
    SVG.write_text(svg(), encoding="utf-8")
    PNG.write_bytes(png(LARGE))
    MODULE.write_text(module(), encoding="utf-8")


def svg() -> str:
    """The drawing for pages."""
    ellipses = "".join(
        f'<ellipse cx="{s.x:g}" cy="{s.y:g}" rx="{s.width:g}" ry="{s.height:g}" fill="{s.colour}"/>'
        for s in SHAPES
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">'
        f'<rect width="100" height="100" fill="{_GROUND}"/>{ellipses}</svg>\n'
    )


def png(side: int) -> bytes:
    """The drawing in pixels, with at most 16 colours."""
    rows = [[_blended(x, y, side) for x in range(side)] for y in range(side)]
    palette = sorted({colour for row in rows for colour in row})
    assert len(palette) <= 16, "two pixels a byte"
    number = {colour: place for place, colour in enumerate(palette)}
    data = b"".join(
        b"\0" + bytes(number[a] << 4 | number[b] for a, b in zip(row[::2], row[1::2], strict=True))
        for row in rows
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(name, content)
        for name, content in (
            (b"IHDR", struct.pack(">IIBBBBB", side, side, 4, 3, 0, 0, 0)),
            (b"PLTE", bytes(part for colour in palette for part in colour)),
            (b"IDAT", zlib.compress(data, 9)),
            (b"IEND", b""),
        )
    )


def module() -> str:
    """The module of the server."""
    text = b64encode(png(SMALL)).decode("ascii")
    lines = "".join(f'    "{text[at : at + 90]}"\n' for at in range(0, len(text), 90))
    return (
        '"""The icon that hosts show for the server; `python -m distribution.icon` draws it."""\n\n'
        f'SIZE = "{SMALL}x{SMALL}"\n'
        f'ICON = (\n    "data:image/png;base64,"\n{lines})\n'
        '"""A URI that holds the picture: nothing has to be fetched for it."""\n'
    )


def _blended(x: int, y: int, side: int) -> _Colour:
    """The colour of a pixel: of one shape, or half of two where they meet."""
    if plain := _plain((x + 0.5) * 100 / side, (y + 0.5) * 100 / side, reach=100 / side):
        return _parts(plain)
    seen = [_shown((x + dx) * 100 / side, (y + dy) * 100 / side) for dx, dy in _points()]
    often = sorted(set(seen), key=lambda colour: (-seen.count(colour), colour))[:2]
    if len(often) == 1 or seen.count(often[1]) < len(seen) // 4:
        return _parts(often[0])
    one, other = map(_parts, often)
    return (one[0] + other[0]) // 2, (one[1] + other[1]) // 2, (one[2] + other[2]) // 2


def _plain(x: float, y: float, *, reach: float) -> str | None:
    """The one colour of all that is so near to a point; None where an edge is as near."""
    for shape in reversed(SHAPES):
        away = hypot((x - shape.x) / shape.width, (y - shape.y) / shape.height)  # 1 on the edge
        room = reach / min(shape.width, shape.height)
        if away <= 1 - room:
            return shape.colour
        if away < 1 + room:
            return None
    return _GROUND


def _points() -> Iterator[tuple[float, float]]:
    for row in range(4):
        for column in range(4):
            yield (column + 0.5) / 4, (row + 0.5) / 4


def _shown(x: float, y: float) -> str:
    """The colour of the shape that lies on top."""
    for shape in reversed(SHAPES):
        if ((x - shape.x) / shape.width) ** 2 + ((y - shape.y) / shape.height) ** 2 <= 1:
            return shape.colour
    return _GROUND


def _parts(colour: str) -> _Colour:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _chunk(name: bytes, content: bytes) -> bytes:
    checked = name + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))


if __name__ == "__main__":
    main()
