"""Where programs keep what belongs to a person."""

import os
import sys
from pathlib import Path


def data_folder(program: str) -> Path:
    """The folder for a program's data, as macOS, Windows and freedesktop.org want it."""
    return _folder("XDG_DATA_HOME", "~/.local/share", "LOCALAPPDATA", "Local") / program


def config_folder(program: str) -> Path:
    """The folder for what a person has told a program; a path to nothing where he has no home."""
    try:
        found = _folder("XDG_CONFIG_HOME", "~/.config", "APPDATA", "Roaming")
    except RuntimeError:
        found = Path()
    # A relative one would lie in the current folder, which may be another person's.
    return (found if found.is_absolute() else Path(os.devnull)) / program


def _folder(variable: str, usual: str, on_windows: str, usual_on_windows: str) -> Path:
    told = Path(os.environ.get(variable, "").strip())
    if sys.platform == "win32":
        told = Path(os.environ.get(on_windows) or f"~/AppData/{usual_on_windows}")
    elif not told.is_absolute():
        told = Path("~/Library/Application Support" if sys.platform == "darwin" else usual)
    return told.expanduser()
