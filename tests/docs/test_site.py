"""The reference pages of the site: made of the code, and all of it."""

import re
from pathlib import Path

import sifaka
from docs.site import reference
from docs.site.diagrams import SCHEMES, diagrams, with_drawings
from sifaka_mcp.cli import COMMANDS
from sifaka_mcp.settings import TOOLSETS
from tests.docs.markdown import ROOT, blocks, read


def test_every_tool_of_every_toolset_is_in_the_reference() -> None:
    page = reference.tools()
    for tool in {name for names in TOOLSETS.values() for name in names}:
        assert f"## {tool}\n" in page


def test_every_command_is_in_the_reference_with_its_options() -> None:
    page = reference.commands()
    for command in COMMANDS:
        assert f"## sifaka {command}\n" in page
    assert "--max-words" in page


def test_everything_that_can_be_imported_is_in_the_reference() -> None:
    page = reference.python()
    for name in sifaka.__all__:
        assert f".{name}\n" in page or f"### {name}\n" in page


def test_what_the_pages_import_from_modules_is_in_the_reference() -> None:
    page = reference.python()
    for document in ("docs/evidence.md", "docs/research.md"):
        for block in blocks(document, "python"):
            for module, names in re.findall(
                r"^from (sifaka\.\S+) import (.+)$", block.content, re.MULTILINE
            ):
                for name in names.split(", "):
                    assert f"::: {module}.{name}\n" in f"{page}\n", name


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in Path(ROOT / "docs").glob("*.md"):
        assert f" {page.name}\n" in navigation, page.name


def test_every_diagram_has_a_drawing_of_its_present_source_in_both_schemes() -> None:
    drawn = list(diagrams())
    assert drawn
    for diagram in drawn:
        for scheme in SCHEMES:
            svg = diagram.path(scheme).read_text(encoding="utf-8")
            assert f'data-source="{diagram.digest}"' in svg, "make pictures"
        page = with_drawings(read(f"docs/{diagram.page}.md"), diagram.page)
        assert diagram.path("dark").name in page
        assert "```mermaid" not in page


def test_the_pictures_load_nothing_from_elsewhere() -> None:
    pictures = list(Path(ROOT / "docs/assets").glob("*.svg"))
    assert len(pictures) > 4
    for picture in pictures:
        svg = picture.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|href=)[\"']?https?:", svg), picture.name
        assert "@import" not in svg
        assert len(svg) < 60_000, picture.name
