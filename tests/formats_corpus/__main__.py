"""`python -m tests.formats_corpus FOLDER... [--most N] [--show]`: real documents, edited.

Prints a row for each format: documents, edits, documents whose skeleton an edit changed, words that
were replaced at once, and documents whose skeleton that changed. Fails when an edit changed one.
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
    ".tex",
    ".html",
    ".txt",
)


def documents(folders: Sequence[Path], most: int) -> list[Path]:
    """The documents in the folders, at most `most` of an ending, chosen by their names' hash."""
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
        head = f"{each.format} {each.path}:"
        for entry, context in zip(each.edits, each.contexts, strict=True):
            change = f"{entry.before!r} -> {entry.after!r}"
            print(f"EDIT {head} {entry.rule}: {change} in {context!r}")
        for kind in ("changed", "broken", "unreadable"):
            if difference := getattr(each, kind):
                print(f"{kind.upper()} {head} {difference[:600]}")


def table(trials: Iterable[Trial]) -> None:
    """Print a row for each format."""
    rows: dict[Format, list[Trial]] = defaultdict(list)
    for each in trials:
        rows[each.format].append(each)
    print(
        "| Format | Documents | Edits | Structures changed | Words replaced | Structures changed |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for format_, group in sorted(rows.items()):
        read = [each for each in group if not each.unreadable]
        cells = (
            format_,
            len(read),
            sum(len(each.edits) for each in read),
            sum(bool(each.changed) for each in read),
            sum(each.words for each in read),
            sum(bool(each.broken) for each in read),
        )
        print(f"| {' | '.join(map(str, cells))} |")
        if len(read) < len(group):
            print(f"{len(group) - len(read)} of {format_} could not be read", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
