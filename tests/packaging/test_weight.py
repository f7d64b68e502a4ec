"""The product only gets lighter: `weights.toml` holds the statements of each package."""

from pathlib import Path

import pytest

from benchmarks.weight import count_statements, find_faults, main, read_lines, weigh, written
from tests.packaging.project import ROOT


def product(root: Path, statements: int) -> Path:
    """A folder with two packages, one of which has so many statements."""
    for name, count in (("sifaka/chain", statements), ("server/sifaka_mcp", 1)):
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "part.py").write_text("x = 1\n" * count, encoding="utf-8")
    return root


def test_no_package_weighs_more_than_its_line_and_no_line_lags_behind() -> None:
    lines = read_lines((ROOT / "weights.toml").read_text(encoding="utf-8"))
    assert find_faults(lines, weigh(ROOT)) == []


def test_neither_imports_nor_docstrings_nor_comments_weigh_anything() -> None:
    source = (
        '"""Module."""\nimport os\nfrom sys import path\n\nclass A:\n    """Class."""\n'
        '    x: int = 1\n    """Field."""\n\n    def f(self): # comment\n        "Function."\n'
        "        if self.x: return\n        print(1)\n"
    )
    assert count_statements(source) == 6


@pytest.mark.parametrize(
    ("weight", "fault"),
    [
        (101, "sifaka/a weighs 101, its line says 100: remove 1"),
        (100, None),
        (98, None),
        (97, "sifaka/a weighs 97, its line says 100: make weights"),
    ],
)
def test_a_line_is_kept_from_both_sides(weight: int, fault: str | None) -> None:
    assert find_faults({"sifaka/a": 100}, {"sifaka/a": weight}) == ([fault] if fault else [])


def test_a_package_without_a_line_and_a_line_without_a_package_are_named() -> None:
    assert len(find_faults({"sifaka/gone": 0}, {"sifaka/new": 1})) == 2


def test_a_total_that_is_not_the_sum_is_refused() -> None:
    with pytest.raises(ValueError, match="the total is 7"):
        read_lines("total = 7\n[statements]\n'sifaka/a' = 8\n")
    assert read_lines(written({"sifaka/a": 8})) == {"sifaka/a": 8}


def test_the_total_falls_by_itself_and_rises_only_as_far_as_it_is_granted(tmp_path: Path) -> None:
    place, file = ["--root", str(tmp_path)], tmp_path / "weights.toml"
    product(tmp_path, 9)
    main(place)
    assert read_lines(file.read_text(encoding="utf-8")) == {
        "server/sifaka_mcp/*.py": 1,
        "sifaka/chain": 9,
    }
    product(tmp_path, 4)
    main(place)
    assert "total = 5" in file.read_text(encoding="utf-8")
    product(tmp_path, 7)
    for granted in ([], ["--raise", "2"]):
        with pytest.raises(SystemExit, match="make weights RAISE=3"):
            main([*place, *granted])
    main([*place, "--raise", "3"])
    assert "total = 8" in file.read_text(encoding="utf-8")
