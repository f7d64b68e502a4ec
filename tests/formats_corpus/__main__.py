"""`python -m tests.formats_corpus FOLDER... [--most N] [--show]`: edit real documents, compare structures.

Prints a row for each format: documents, edits, documents whose skeleton an edit changed, words that were
replaced at once, and documents whose skeleton that changed. Fails when an edit changed a skeleton.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path

from sifaka.text.formats import Format
from tests.formats_corpus.trial import Trial, trial

ENDINGS = (
    ".md",
    ".mdx",
    ".rst",
    ".rst.txt",
    ".adoc",
    ".org",
    ".tex",
    ".html",
    ".po",
    ".py",
    ".txt",
)


def documents(folders: Sequence[Path], most: int) -> list[Path]:
    """The documents in the folders, at most `most` of an ending, chosen by the hash of their name."""
    found: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            ending = next((end for end in ENDINGS[::-1] if path.name.endswith(end)), None)
            if ending and path.is_file() and not path.is_symlink() and path.stat().st_size > 200:
                found[ending].append(path)
    chosen: list[Path] = []
    for paths in found.values():
        paths.sort(key=lambda path: sha256(str(path).encode()).digest())
        chosen += paths[:most]
    return chosen


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="tests.formats_corpus")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=300, help="documents of an ending")
    parser.add_argument("--show", action="store_true", help="print edits and differences")
    options = parser.parse_args()
    paths = documents(options.folders, options.most)
    with ProcessPoolExecutor(2) as pool:
        trials = [done for done in pool.map(trial, paths, chunksize=4) if done]
    if options.show:
        show(trials)
    table(trials)
    return 1 if any(each.changed for each in trials) else 0


def show(trials: Iterable[Trial]) -> None:
    """Print every edit and every difference."""
    for each in trials:
        for entry, context in zip(each.edits, each.contexts, strict=True):
            print(
                f"EDIT {each.format} {each.path}: {entry.rule}: {entry.before!r} -> {entry.after!r} in {context!r}"
            )
        for kind in ("changed", "broken", "unreadable"):
            if difference := getattr(each, kind):
                print(f"{kind.upper()} {each.format} {each.path}: {difference[:600]}")


def table(trials: Iterable[Trial]) -> None:
    """Print a row for each format."""
    rows: dict[Format, list[Trial]] = defaultdict(list)
    for each in trials:
        rows[each.format].append(each)
    print(
        "| format | documents | edits | skeletons changed | words replaced | skeletons changed | not readable |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for format_, group in sorted(rows.items()):
        read = [each for each in group if not each.unreadable]
        print(
            f"| {format_} | {len(read)} | {sum(len(e.edits) for e in read)} | {sum(bool(e.changed) for e in read)}"
            f" | {sum(e.words for e in read)} | {sum(bool(e.broken) for e in read)} | {len(group) - len(read)} |"
        )


if __name__ == "__main__":
    sys.exit(main())
