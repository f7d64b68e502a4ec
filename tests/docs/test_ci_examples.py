"""The pipelines of docs/check.md: their commands are run, on texts with and without a mistake."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from sifaka_mcp.cli import run
from tests.docs.markdown import blocks

DOCUMENT = "docs/check.md"


def commands(value: Any) -> Iterator[list[str]]:
    """Every command of ours in a pipeline; a hook is given its file."""
    if isinstance(value, dict):
        for key, part in cast("dict[str, Any]", value).items():
            if key == "entry":
                yield [*shlex.split(part), "texts/notes.md"]
            elif key != "name":
                yield from commands(part)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from commands(part)
    elif isinstance(value, str) and value.startswith("sifaka "):
        yield shlex.split(value)


SHOWN = [
    command
    for block in blocks(DOCUMENT, "yaml")
    for command in commands(yaml.safe_load(block.content))
]


def test_each_kind_of_pipeline_has_a_command() -> None:
    assert len(SHOWN) == 4


@pytest.mark.parametrize("command", SHOWN, ids=" ".join)
@pytest.mark.parametrize(("text", "code"), [("We ship.\n", 0), ("Our world-class way way.\n", 1)])
def test_a_pipeline_passes_a_good_text_and_fails_a_bad_one(
    command: list[str], text: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path / "home"))
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/notes.md").write_text(text)
    assert command[0] == "sifaka"
    assert run(command[1:]) == code
