"""Tables, the picture, and the command."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.quality.__main__ import PUBLISHED
from benchmarks.quality.binary import BinaryWorld
from benchmarks.quality.binary_grid import Cell
from benchmarks.quality.plot import draw
from benchmarks.quality.samples import Mean
from benchmarks.quality.tables import Table, put_into

ROOT = Path(__file__).parents[3]
TABLE = Table(
    name="binary",
    title="A title",
    header=("loop", "share"),
    rows=(("naive", "0.5"), ("gated", "0.75")),
)


def test_a_table_has_a_title_and_columns() -> None:
    assert TABLE.as_text() == "A title\n  loop   share\n  naive    0.5\n  gated   0.75"


def test_a_table_in_markdown_has_numbers_on_the_right() -> None:
    assert TABLE.as_markdown() == (
        "| loop | share |\n| --- | ---: |\n| naive | 0.5 |\n| gated | 0.75 |"
    )


def test_a_table_takes_the_place_between_its_markers(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("before\n<!-- binary -->\nold\n<!-- /binary -->\nafter\n", "utf-8")

    put_into(document, [("binary", "new")])
    once = document.read_text("utf-8")
    put_into(document, [("binary", "new")])

    assert once == "before\n<!-- binary -->\n\nnew\n\n<!-- /binary -->\nafter\n"
    assert document.read_text("utf-8") == once


def test_a_document_without_the_marker_stays_as_it_is(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("<!-- binary -->\n<!-- /binary -->\n", "utf-8")

    with pytest.raises(ValueError, match="own"):
        put_into(document, [("binary", "new"), ("own", "new")])

    assert document.read_text("utf-8") == "<!-- binary -->\n<!-- /binary -->\n"


def test_the_document_has_a_place_for_each_table() -> None:
    text = (ROOT / "docs" / "quality.md").read_text("utf-8")

    for name in PUBLISHED:
        inside = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]
        assert "| ---" in inside, name


def test_the_same_figures_give_the_same_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    world = BinaryWorld(start=0.5, repair=0.3, harm=0.1, accuracy=0.7, steps=1)
    mean = Mean(blocks=(0.6,))
    cell = Cell(world=world, steps=1, looked_back=False, measured=mean, expected=0.6)
    files = (tmp_path / "one.svg", tmp_path / "two.svg")

    for file in files:
        draw([cell], [], file)

    assert files[0].read_bytes() == files[1].read_bytes()
    assert "gated, J = 0.7" in files[0].read_text("utf-8")


def command(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.quality", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.slow
def test_a_cell_that_is_off_fails_the_command() -> None:
    done = command("--worlds", "binary", "--runs", "1", "--steps", "1", "--processes", "1")

    assert done.returncode == 1
    assert "OFF" in done.stdout
    assert "cells of the binary world are off" in done.stderr
