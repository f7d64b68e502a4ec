"""Measures what an installation takes: `python -m distribution.weights WHEEL` prints a table.

Each extra is installed by uv into an environment of its own, with bytecode, as pip leaves it.
"""

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from distribution.identity import ROOT
from distribution.uv import run_uv

LEFT_OUT = frozenset({"guardrails", "ollama", "openrouter", "sentence-transformers"})
"""Extras that are like `openai`, or bring gigabytes."""


class Weight(NamedTuple):
    """What an environment holds."""

    packages: int
    megabytes: float
    """Of 1,048,576 bytes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a row for the plain package and one for what each extra adds."""
    parser = argparse.ArgumentParser(prog="distribution.weights")
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args(arguments).wheel
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plain = weighed(wheel)
    print("| Extra | Packages | MB |\n|---|---|---|")  # noqa: T201 - what it is for
    print(f"| none | {plain.packages} | {plain.megabytes:.0f} |", flush=True)  # noqa: T201
    for extra in sorted(project["optional-dependencies"].keys() - LEFT_OUT):
        more = weighed(wheel, [extra])
        packages, megabytes = more.packages - plain.packages, more.megabytes - plain.megabytes
        print(f"| `{extra}` | +{packages} | +{megabytes:.0f} |", flush=True)  # noqa: T201


def weighed(wheel: Path, extras: Iterable[str] = ()) -> Weight:
    """The weight of a fresh environment with the wheel and some extras.

    Raises:
        subprocess.CalledProcessError: uv could not install them.
    """
    with tempfile.TemporaryDirectory() as folder:
        run_uv("venv", "--quiet", "--python", sys.executable, folder)
        chosen = ",".join(extras)
        wanted = f"{wheel.resolve()}[{chosen}]" if chosen else str(wheel.resolve())
        run_uv("pip", "install", "--quiet", "--compile-bytecode", "--python", folder, wanted)
        return weight_of(Path(folder))


def weight_of(environment: Path) -> Weight:
    """The weight of an environment that is there; links in it weigh nothing."""
    files = [path for path in environment.rglob("*") if path.is_file() and not path.is_symlink()]
    packages = sum(path.name == "METADATA" for path in files)
    # What a disk takes: whole blocks of 512 bytes, as `du` counts them.
    return Weight(packages, sum(path.stat().st_blocks for path in files) * 512 / 2**20)


if __name__ == "__main__":
    main()
