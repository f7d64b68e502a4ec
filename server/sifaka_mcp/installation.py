"""The installed packages: `sifaka` must be ours, not the other project of that name on PyPI."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_OURS, _OTHER = "sifaka-mcp", "sifaka"
"""This project on PyPI, and the other one, with a module of the same name."""
_REMEDY = f"run: pip uninstall {_OTHER}, and install this project again"
_MARK = "sifaka._internal"
"""A module that our `sifaka/__init__.py` imports from, and theirs does not."""


def wrong_package() -> str | None:
    """One line about the package `sifaka` when it is not ours; it is not imported for that."""
    spec = find_spec("sifaka")
    if spec is None or spec.origin is None:
        return f"the package `sifaka` is missing — {_REMEDY}"
    if _MARK in Path(spec.origin).read_text(encoding="utf-8", errors="replace"):
        return None
    return other_project() or f"{spec.origin} belongs to another project — {_REMEDY}"


def other_project() -> str | None:
    """One line about the other project when it is installed: its files, ours, and what to run."""
    from importlib.metadata import distributions

    for other in distributions(name=_OTHER):
        theirs = _files_of(other)
        if "sifaka/__init__.py" in theirs:
            ours = {name for each in distributions(name=_OURS) for name in _files_of(each)}
            return (
                f"{other.locate_file('sifaka')} has {len(theirs)} files of {_OTHER} "
                f"{other.version}, another project, {len(theirs & ours)} of them in place of files "
                f"of {_OURS} — {_REMEDY}"
            )
    return None


def _files_of(distribution: "Distribution") -> set[str]:
    names = (file.as_posix() for file in distribution.files or ())
    return {name for name in names if name.startswith("sifaka/")}
