"""What pyproject.toml says."""

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = SETTINGS["project"]
