"""The targets of the Makefile."""

import re
from pathlib import Path


def make_targets() -> set[str]:
    makefile = Path(__file__).parents[2] / "Makefile"
    return set(re.findall(r"^([a-z-]+):", makefile.read_text(encoding="utf-8"), re.MULTILINE))
