"""Lays out the folder that is packed into the bundle: `python -m distribution.bundle FOLDER WHEEL`.

A bundle is the wheel, the versions of everything it needs as `uv.lock` of this repository has
them, and a manifest that tells a host how to start it and what to ask its user.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sifaka_mcp.settings import TOOLSETS, Settings
from sifaka_mcp.tools import tools

ROOT = Path(__file__).parents[1]
PARTS = Path(__file__).parent / "mcpb"
EXTRAS = ("anthropic", "google", "openai", "redis")
"""What the fields of the manifest may ask for: these models, and this store."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Lay the folder out."""
    parser = argparse.ArgumentParser(prog="distribution.bundle")
    parser.add_argument("folder", type=Path, help="must not exist yet")
    parser.add_argument("wheel", type=Path)
    options = parser.parse_args(arguments)
    lay_out(options.folder, options.wheel)


def lay_out(folder: Path, wheel: Path) -> None:
    """Write everything of the bundle into a new folder.

    Raises:
        FileExistsError: The folder is there already.
        subprocess.CalledProcessError: uv could not lock the dependencies.
    """
    folder.mkdir(parents=True)
    for file in (wheel, PARTS / "launch.py", ROOT / "LICENSE"):
        shutil.copy(file, folder)
    text = json.dumps(manifest(), indent=2, ensure_ascii=False)
    (folder / "manifest.json").write_text(f"{text}\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text(_project(wheel.name, _pins()), encoding="utf-8")
    _uv("lock", "--quiet", "--project", str(folder))


def manifest() -> dict[str, Any]:
    """The manifest: its file here, with what the project and the code say better."""
    project = _metadata()
    written: dict[str, Any] = json.loads((PARTS / "manifest.json").read_text(encoding="utf-8"))
    offered = tools(name for toolset in Settings().toolsets for name in TOOLSETS[toolset])
    return {
        **written,
        "version": project["version"],
        "description": project["description"],
        "author": project["authors"][0],
        "license": project["license"],
        "keywords": project["keywords"],
        "tools": [{"name": tool.name, "description": tool.description} for tool in offered],
        "compatibility": {
            **written["compatibility"],
            "runtimes": {"python": project["requires-python"]},
        },
    }


def _project(wheel: str, pins: Sequence[str]) -> str:
    """A project that is nothing but the wheel with its extras, in these versions."""
    project = _metadata()
    dependency = f"sifaka-mcp[{','.join(EXTRAS)}]"
    lines = "".join(f"    {json.dumps(pin)},\n" for pin in pins)
    return (
        "[project]\n"
        'name = "sifaka-mcp-bundle"\n'
        f"version = {json.dumps(project['version'])}\n"
        f"requires-python = {json.dumps(project['requires-python'])}\n"
        f"dependencies = {json.dumps([dependency])}\n"
        "\n[tool.uv]\n"
        "package = false\n"
        f"constraint-dependencies = [\n{lines}]\n"
        "\n[tool.uv.sources]\n"
        f"sifaka-mcp = {{ path = {json.dumps(wheel)} }}\n"
    )


def _pins() -> list[str]:
    """The versions in our lock, as requirements."""
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    form = ("--no-emit-project", "--no-hashes", "--no-annotate", "--no-header")
    exported = _uv("export", "--quiet", "--frozen", "--no-default-groups", *extras, *form)
    return exported.splitlines()


def _metadata() -> Mapping[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _uv(*arguments: str) -> str:
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is None:
        raise SystemExit("uv is not installed: make installs it into .venv")
    done = subprocess.run(  # noqa: S603 - every argument is written above
        [uv, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


if __name__ == "__main__":
    main()
