"""Lays out the folder that is packed into a bundle: `python -m distribution.bundle FOLDER WHEEL`.

A bundle is the wheel, the versions of everything it needs as `uv.lock` of this repository has
them, and a manifest that tells a host how to start it and what to ask its user. With `--platform`
it is for one platform and one Python, and brings everything it needs.
"""

import argparse
import json
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from distribution.icon import PNG
from distribution.identity import ROOT
from distribution.uv import run_uv
from distribution.wheels import PLATFORMS, collect
from sifaka_mcp.settings import TOOLSETS, Settings
from sifaka_mcp.tools import tools

PARTS = Path(__file__).parent / "mcpb"
EXTRAS = ("anthropic", "google", "openai", "redis")
"""What the fields of the manifest may ask for: these models, and this store."""
WHEELS = "wheels"
"""The folder in a bundle."""
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
"""The Python that a bundle for one platform brings wheels for: that which makes it, since uv locks
for no other."""
DOWNLOADS = "The first start downloads about 45 MB of Python packages from PyPI."
BRINGS = f"The first start needs nothing from the network where Python {PYTHON} is installed."


def main(arguments: Sequence[str] | None = None) -> None:
    """Lay the folder out."""
    parser = argparse.ArgumentParser(prog="distribution.bundle")
    parser.add_argument("folder", type=Path, help="must not exist yet")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--platform", choices=PLATFORMS, help="bring what it needs there")
    options = parser.parse_args(arguments)
    lay_out(options.folder, options.wheel, options.platform)


def lay_out(folder: Path, wheel: Path, platform: str | None = None) -> None:
    """Write everything of the bundle into a new folder.

    Args:
        folder: Must not exist yet.
        wheel: Ours.
        platform: A key of `PLATFORMS`, for which it brings everything; None for all, with nothing.

    Raises:
        FileExistsError: The folder is there already.
        subprocess.CalledProcessError: uv could not lock the dependencies, or a wheel is missing.
    """
    folder.mkdir(parents=True)
    for file in (wheel, PARTS / "launch.py", PNG, ROOT / "LICENSE"):
        shutil.copy(file, folder)
    text = json.dumps(manifest(platform), indent=2, ensure_ascii=False)
    (folder / "manifest.json").write_text(f"{text}\n", encoding="utf-8")
    pins = _pins()
    if platform is not None:
        collect(folder / WHEELS, pins, platform, PYTHON)
    (folder / "pyproject.toml").write_text(_project(wheel.name, pins, platform), encoding="utf-8")
    run_uv("lock", "--quiet", "--project", str(folder))


def manifest(platform: str | None = None) -> dict[str, Any]:
    """The manifest: its file here, with what the project and the code say better."""
    project = _metadata()
    start = DOWNLOADS if platform is None else BRINGS
    written: dict[str, Any] = json.loads((PARTS / "manifest.json").read_text(encoding="utf-8"))
    offered = tools([name for toolset in Settings().toolsets for name in TOOLSETS[toolset]])
    return {
        **written,
        "version": project["version"],
        "description": project["description"],
        "long_description": f"{written['long_description']}\n\n{start}",
        "author": project["authors"][0],
        "license": project["license"],
        "keywords": project["keywords"],
        "tools": [{"name": tool.name, "description": tool.listed.description} for tool in offered],
        "compatibility": {
            "platforms": _hosts(platform),
            "runtimes": {"python": _pythons(platform)},
        },
    }


def _hosts(platform: str | None) -> list[str]:
    if platform is not None:
        return [PLATFORMS[platform].host]
    return ["darwin", "win32", "linux"]


def _pythons(platform: str | None) -> str:
    """The versions of Python that it runs on."""
    return _metadata()["requires-python"] if platform is None else f"=={PYTHON}.*"


def _project(wheel: str, pins: Sequence[str], platform: str | None) -> str:
    """A project that is nothing but the wheel with its extras, in these versions."""
    project = _metadata()
    brought = ""
    if platform is not None:
        brought = (
            "no-index = true\n"
            f"find-links = [{json.dumps(WHEELS)}]\n"
            f"environments = [{json.dumps(PLATFORMS[platform].marker)}]\n"
        )
    dependency = f"sifaka-mcp[{','.join(EXTRAS)}]"
    lines = "".join(f"    {json.dumps(pin)},\n" for pin in pins)
    return (
        "[project]\n"
        'name = "sifaka-mcp-bundle"\n'
        f"version = {json.dumps(project['version'])}\n"
        f"requires-python = {json.dumps(_pythons(platform))}\n"
        f"dependencies = {json.dumps([dependency])}\n"
        "\n[tool.uv]\n"
        "package = false\n"
        f"{brought}"
        f"constraint-dependencies = [\n{lines}]\n"
        "\n[tool.uv.sources]\n"
        f"sifaka-mcp = {{ path = {json.dumps(wheel)} }}\n"
    )


def _pins() -> list[str]:
    """The versions in our lock, as requirements."""
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    form = ("--no-emit-project", "--no-hashes", "--no-annotate", "--no-header")
    exported = run_uv("export", "--quiet", "--frozen", "--no-default-groups", *extras, *form)
    return exported.splitlines()


def _metadata() -> Mapping[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


if __name__ == "__main__":
    main()
