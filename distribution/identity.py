"""The repository and the version of a release, written wherever they stand.

`python -m distribution.identity URL` and `--version 1.2.3` change them; without arguments it prints
what `pyproject.toml` says and fails where another file says something else.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FILES = (
    "pyproject.toml", "server.json", "README.md", "Dockerfile",
    "docs/installation.md", "docs/check.md",
    ".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "gemini-extension.json",
)  # fmt: skip
"""The files that name the repository or the version."""
_ADDRESS = re.compile(r"https://github\.com/([A-Za-z0-9-]+)/([\w.-]+?)/?")
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")


class Identity(NamedTuple):
    """Where the project is, and which version it is."""

    account: str
    repository: str
    version: str

    @property
    def place(self) -> str:
        """The account and the repository."""
        return f"{self.account}/{self.repository}"

    @property
    def image(self) -> str:
        """The container image, without a tag."""
        return f"ghcr.io/{self.place.lower()}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Change the files, or compare them."""
    parser = argparse.ArgumentParser(prog="distribution.identity")
    parser.add_argument("url", nargs="?", help="https://github.com/ACCOUNT/REPOSITORY")
    parser.add_argument("--version")
    parser.add_argument("--is", dest="expected", help="fail unless this is ACCOUNT/REPOSITORY")
    options = parser.parse_args(arguments)
    now = identity()
    new = now
    if options.url:
        found = _ADDRESS.fullmatch(options.url) or parser.error(f"{options.url!r} is no address")
        new = new._replace(account=found[1], repository=found[2])
    if options.version:
        if not _VERSION.fullmatch(options.version):
            parser.error(f"{options.version!r} is no version")
        new = new._replace(version=options.version)
    if new != now:
        for name in FILES:
            path = ROOT / name
            text = path.read_text(encoding="utf-8")
            path.write_text(rewritten(text, now, new), encoding="utf-8")
    sys.stdout.write(f"{new.place} {new.version}\n")
    return int(options.expected is not None and options.expected.lower() != new.place.lower())


def identity() -> Identity:
    """What `pyproject.toml` says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = _ADDRESS.fullmatch(project["urls"]["Repository"])
    assert found, "the repository is on GitHub"
    return Identity(found[1], found[2], project["version"])


def rewritten(text: str, old: Identity, new: Identity) -> str:
    """The text of one of the files with another identity."""
    for before, after in (
        (f"github.com/{old.place}", f"github.com/{new.place}"),
        (f"io.github.{old.place}", f"io.github.{new.place}"),
        (f"githubusercontent.com/{old.place}", f"githubusercontent.com/{new.place}"),
        (f"{old.image}:{old.version}", f"{new.image}:{new.version}"),
        (f"uses: {old.place}@", f"uses: {new.place}@"),
        (f'version = "{old.version}"', f'version = "{new.version}"'),
        (f'"version": "{old.version}"', f'"version": "{new.version}"'),
        (f"rev: v{old.version}", f"rev: v{new.version}"),
        (f"sifaka-mcp@v{old.version}", f"{new.repository}@v{new.version}"),
    ):
        text = text.replace(before, after)
    return text


if __name__ == "__main__":
    raise SystemExit(main())
