"""The last step before a release is published: `python -m distribution.release dist [v1.2.3]`.

It sees that the files are those of this version, that the wheel can be built again from the source
distribution alone, and writes a bill of materials and the check sums beside them.
"""

import argparse
import hashlib
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from distribution.identity import ROOT, identity
from distribution.uv import run_uv

BUILDERS = ROOT / "distribution" / "locks" / "build.txt"
"""What builds a wheel, with its hashes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Check a folder of files and complete it."""
    parser = argparse.ArgumentParser(prog="distribution.release")
    parser.add_argument("folder", type=Path, help="where make has put them")
    parser.add_argument("tag", nargs="?", help="the tag that is released")
    options = parser.parse_args(arguments)
    sys.stdout.write("".join(f"{line}\n" for line in checked(options.folder, options.tag)))


def checked(folder: Path, tag: str | None = None) -> list[str]:
    """The check sums of what is published.

    Raises:
        SystemExit: A file is missing, is of another version, or cannot be built again.
    """
    version = identity().version
    if tag and tag != f"v{version}":
        raise SystemExit(f"the tag is {tag}, and pyproject.toml says {version}")
    wheel = folder / "wheel" / f"sifaka_mcp-{version}-py3-none-any.whl"
    source = folder / "wheel" / f"sifaka_mcp-{version}.tar.gz"
    bundle = folder / "sifaka-mcp.mcpb"
    for file in (wheel, source, bundle):
        if not file.is_file():
            raise SystemExit(f"{file} is missing: make wheel bundle")
    if contents(wheel) != contents(built_again(source)):
        raise SystemExit("the source distribution builds another wheel")
    materials = folder / "sifaka-mcp.cdx.json"
    form = ("--format", "cyclonedx1.5", "--output-file", str(materials))
    run_uv("export", "--quiet", "--frozen", "--no-default-groups", *form)
    files = (wheel, source, bundle, *sorted(folder.glob("sifaka-mcp-*.mcpb")), materials)
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in files]
    (folder / "SHA256SUMS").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return lines


def built_again(source: Path) -> Path:
    """The wheel that a source distribution makes where nothing else is."""
    folder = Path(tempfile.mkdtemp())
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    known = ("--build-constraints", str(BUILDERS), "--require-hashes")
    run_uv("build", "--quiet", "--wheel", *known, "--out-dir", str(folder / "made"), cwd=unpacked)
    (made,) = (folder / "made").glob("*.whl")
    return made


def contents(wheel: Path) -> dict[str, int]:
    """The names of a wheel's files with the check sums of their content."""
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.CRC for info in archive.infolist()}


if __name__ == "__main__":
    main()
