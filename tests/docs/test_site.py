"""The reference pages of the site: made of the code, and all of it."""

import re
from pathlib import Path

import sifaka
from docs.site import reference
from sifaka_mcp.cli import COMMANDS
from sifaka_mcp.settings import TOOLSETS
from tests.docs.markdown import ROOT, blocks


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
        assert f".{name}\n" in page or f"## {name}\n" in page


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
