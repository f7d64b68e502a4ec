"""What pyproject.toml says, and the targets of the Makefile."""

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = SETTINGS["project"]


def make_targets() -> set[str]:
    makefile = Path(__file__).parents[2] / "Makefile"
    return set(re.findall(r"^([a-z-]+):", makefile.read_text(encoding="utf-8"), re.MULTILINE))
