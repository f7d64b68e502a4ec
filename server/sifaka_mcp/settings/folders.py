"""Where programs keep what belongs to a person."""

import os
import sys
from pathlib import Path


def data_folder(program: str) -> Path:
    """The folder for a program's data, as macOS, Windows and freedesktop.org want it."""
    told = Path(os.environ.get("XDG_DATA_HOME", "").strip())
    if sys.platform == "win32":
        told = Path(os.environ.get("LOCALAPPDATA") or "~/AppData/Local")
    elif not told.is_absolute():
        is_mac = sys.platform == "darwin"
        told = Path("~/Library/Application Support" if is_mac else "~/.local/share")
    return told.expanduser() / program
