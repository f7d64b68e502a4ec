"""The architecture names modules, classes and functions that exist, in words and in its drawing."""

import re
from functools import reduce
from importlib import import_module
from importlib.util import find_spec

from tests.docs.markdown import ROOT, code, read

DOCUMENT = "docs/architecture.md"
NO_CODE = {
    "running",
    "needs_revision",
    "wait_seconds",
    "lint",
    "pyproject.toml",
    "tool.importlinter",
    "make lint",
}
"""Code spans that name data, settings and commands."""
_BREAK = re.compile(r"\n\n|\n(?=\s*(?:\d+\.|-) )")
_MODULE = re.compile(r"sifaka(_mcp)?(\.\w+)*")
_TEXT = re.compile(r'<text class="(room|parts)"[^>]*>([^<]*)</text>')


def test_every_module_that_is_named_exists() -> None:
    modules = [span for span in code(read(DOCUMENT)) if _MODULE.fullmatch(span)]
    assert len(set(modules)) > 30
    for module in modules:
        assert find_spec(module), module


def test_every_class_and_function_is_in_a_module_that_is_named_beside_it() -> None:
    found = 0
    for item in _BREAK.split(read(DOCUMENT)):
        spans = code(item)
        modules = [import_module(span) for span in spans if _MODULE.fullmatch(span)]
        for name in spans:
            if _MODULE.fullmatch(name) or name in NO_CODE:
                continue
            found += 1
            assert any(_holds(module, name) for module in modules), name
    assert found > 40


def test_every_package_and_module_of_the_drawing_exists() -> None:
    drawing = (ROOT / "docs/architecture.svg").read_text(encoding="utf-8")
    room, drawn = "", 0
    for kind, words in _TEXT.findall(drawing):
        if kind == "room":
            room = words if words.startswith("sifaka") else f"sifaka.{words}"
            assert find_spec(room), room
            continue
        for part in words.split(" · "):
            assert find_spec(f"{room}.{part}"), f"{room}.{part}"
            drawn += 1
    assert drawn > 40


def test_the_drawing_loads_nothing_from_elsewhere() -> None:
    drawing = (ROOT / "docs/architecture.svg").read_text(encoding="utf-8")
    assert re.findall(r"https?://[^\"]+", drawing) == ["http://www.w3.org/2000/svg"]
    assert "url(" not in drawing
    assert "<script" not in drawing


def _holds(module: object, path: str) -> bool:
    missing = object()
    return (
        reduce(lambda held, name: getattr(held, name, missing), path.split("."), module)
        is not missing
    )
