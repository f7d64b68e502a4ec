"""The icon is one drawing, wherever it is shown."""

import struct
import zlib
from base64 import b64decode
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from mcp import Client

from distribution.bundle import manifest
from distribution.icon import LARGE, PNG, SHAPES, SMALL, SVG, png, svg
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.icon import ICON, SIZE
from sifaka_mcp.settings import Settings

_PREFIX = "data:image/png;base64,"


def chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Those of a PNG, whose check sums are right."""
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    at = 8
    while at < len(picture):
        (length,) = struct.unpack_from(">I", picture, at)
        name, content = picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        (stated,) = struct.unpack_from(">I", picture, at + 8 + length)
        assert stated == zlib.crc32(name + content)
        yield name, zlib.decompress(content) if name == b"IDAT" else content
        at += 12 + length


def small() -> bytes:
    return b64decode(ICON.removeprefix(_PREFIX), validate=True)


@pytest.mark.slow
def test_every_file_shows_what_is_drawn() -> None:
    # Another zlib may press the same pixels into other bytes.
    assert dict(chunks(PNG.read_bytes())) == dict(chunks(png(LARGE)))
    assert dict(chunks(small())) == dict(chunks(png(SMALL)))
    assert SVG.read_text(encoding="utf-8") == svg()


def test_a_picture_has_the_pixels_that_it_says() -> None:
    for picture, side in ((PNG.read_bytes(), LARGE), (small(), SMALL)):
        parts = dict(chunks(picture))
        assert struct.unpack_from(">II", parts[b"IHDR"]) == (side, side)
        assert len(parts[b"IDAT"]) == side * (1 + side // 2), "four bits a pixel"
        assert 1 < len(parts[b"PLTE"]) // 3 <= 16
    assert f"{SMALL}x{SMALL}" == SIZE


def test_the_drawing_holds_shapes_and_nothing_that_runs() -> None:
    names = [element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg()).iter()]  # noqa: S314 - ours
    assert names == ["svg", "rect", *["ellipse"] * len(SHAPES)]


@pytest.mark.anyio
async def test_the_server_brings_its_icon_and_tools_bring_none() -> None:
    async with Client(SifakaServer(Settings())) as client:
        assert client.server_info is not None
        (icon,) = client.server_info.icons or []
        assert (icon.src, icon.mime_type, icon.sizes) == (ICON, "image/png", [SIZE])
        # It is sent with answers of the newer protocol, so it has to be small.
        assert len(icon.src) < 800
        assert not any(tool.icons for tool in (await client.list_tools()).tools)


def test_a_bundle_shows_the_large_picture() -> None:
    assert manifest()["icon"] == PNG.name
