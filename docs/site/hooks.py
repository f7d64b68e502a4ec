"""What the site has beyond the pages: reference pages made of the code, and files they link to."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.site import reference
from docs.site.diagrams import with_drawings

ROOT = Path(__file__).parents[2]
_OUTSIDE = re.compile(r"\]\(\.\./([^)#\s]+)(#[^)\s]*)?\)")
_INSIDE = re.compile(r"\]\(docs/([^)#\s]+)(#[^)\s]*)?\)")
_FOLDER = "repository"
"""Where files of the repository that are no pages stand in the site."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files that pages link to."""
    pages = {
        "reference/tools.md": reference.tools(),
        "reference/commands.md": reference.commands(),
        "reference/python.md": reference.python(),
        f"{_FOLDER}/CHANGELOG.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    }
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    for name in sorted(_linked()):
        uri = f"{_FOLDER}/{name}"
        if uri not in pages:
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Links out of the folder of the pages lead to copies in the site; diagrams are pictures."""
    if page.file.src_uri.startswith(f"{_FOLDER}/"):
        return _INSIDE.sub(r"](../\1\2)", markdown)
    drawn = with_drawings(markdown, Path(page.file.src_uri).stem)
    return _OUTSIDE.sub(rf"]({_FOLDER}/\1\2)", drawn)


def _linked() -> set[str]:
    pages = (ROOT / "docs").glob("*.md")
    return {
        found.group(1)
        for page in pages
        for found in _OUTSIDE.finditer(page.read_text(encoding="utf-8"))
    }
