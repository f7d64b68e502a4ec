"""The weight of the product in statements, held by `weights.toml`: `make weights` writes it.

A statement is a node of Python's syntax tree; imports and docstrings are none, so neither words nor
formatting weigh anything. `--raise N` lets the total grow by N; without it the total only falls.
"""

import argparse
import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ("sifaka", "server/sifaka_mcp")
SLACK = 0.02
"""The part of a line by which a package may be lighter before the line has to follow."""
_HEAD = """\
# The statements of each package: none may weigh more than its line, and a line follows a package
# that got lighter. `make weights` writes this file; only `make weights RAISE=N` raises the total.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file.

    Raises:
        SystemExit: The total would grow by more than is granted.
    """
    parser = argparse.ArgumentParser(prog="benchmarks.weight")
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--raise", dest="granted", type=int, default=0, metavar="N")
    options = parser.parse_args(arguments)
    path = options.root / "weights.toml"
    lines = weigh(options.root)
    total = sum(lines.values())
    if path.exists():
        before = read_lines(path.read_text(encoding="utf-8"))
        refuse_growth(before=sum(before.values()), now=total, granted=options.granted)
    path.write_text(written(lines), encoding="utf-8")
    sys.stdout.write(f"{total} statements\n")


def weigh(root: Path) -> dict[str, int]:
    """The statements of each package below `root`, by its folder; loose files share `/*.py`."""
    found: Counter[str] = Counter()
    for source in SOURCES:
        for path in (root / source).rglob("*.py"):
            first, *deeper = path.relative_to(root / source).parts
            package = f"{source}/{first if deeper else '*.py'}"
            found[package] += count_statements(path.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def count_statements(source: str) -> int:
    """The statements of a module, without its imports and docstrings."""
    return sum(_weighs(node) for node in ast.walk(ast.parse(source)))


def read_lines(text: str) -> dict[str, int]:
    """What `weights.toml` allows each package.

    Raises:
        ValueError: Its total is not the sum of its lines.
    """
    said = tomllib.loads(text)
    lines: dict[str, int] = said["statements"]
    if said["total"] != sum(lines.values()):
        raise ValueError(f"weights.toml: the total is {said['total']}, its lines {lines}")
    return lines


def written(lines: Mapping[str, int]) -> str:
    """The text of `weights.toml`."""
    rows = "".join(f'"{package}" = {weight}\n' for package, weight in lines.items())
    return f"{_HEAD}total = {sum(lines.values())}\n\n[statements]\n{rows}"


def find_faults(lines: Mapping[str, int], weights: Mapping[str, int]) -> list[str]:
    """A sentence for each package whose weight and line do not go together."""
    faults: list[str] = []
    for package in sorted({*lines, *weights}):
        line, weight = lines.get(package, 0), weights.get(package, 0)
        if weight > line:
            faults.append(
                f"{package} weighs {weight}, its line says {line}: remove {weight - line}"
            )
        elif weight < line * (1 - SLACK) or package not in weights:
            faults.append(f"{package} weighs {weight}, its line says {line}: make weights")
    return faults


def refuse_growth(*, before: int, now: int, granted: int) -> None:
    """Do nothing, unless the total grows by more than is granted.

    Raises:
        SystemExit: It does.
    """
    if now > before + granted:
        raise SystemExit(
            f"the total is {now}, weights.toml says {before}: remove {now - before - granted} "
            f"statements, or grant them: make weights RAISE={now - before}"
        )


def _weighs(node: ast.AST) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom)) or not isinstance(node, ast.stmt):
        return False
    # A string that stands alone: a docstring of a module, a class, a function or a field.
    text = node.value if isinstance(node, ast.Expr) else None
    return not (isinstance(text, ast.Constant) and isinstance(text.value, str))


if __name__ == "__main__":
    main()
