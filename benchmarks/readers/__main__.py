"""`python -m benchmarks.readers`: which reader gets the text of a PDF or DOCX, and how fast.

Needs `pip install 'sifaka-mcp[documents,evidence]' pymupdf pypdfium2 'markitdown[pdf,docx]'
reportlab` in an environment of its own, and DejaVu Sans.
"""

import argparse
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from importlib.metadata import distribution, requires
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.quality.tables import Table, put_into
from benchmarks.readers.readers import DOCX, READERS, Reader
from benchmarks.readers.samples import Sample, long_pdf, samples

_PAGES = 100
_MEGABYTE = 1_000_000
_EXTRAS: Mapping[str, frozenset[str]] = {"markitdown": frozenset({"pdf", "docx"})}
_OURS = frozenset({"python-docx", "lxml"})
"""Read DOCX beside pypdf."""
_MARKS = re.compile(r"[^\w.]+")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.readers", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="put the table into it")
    options = parser.parse_args()
    table = _table(samples())
    print(table.as_text())
    if options.markdown:
        put_into(options.markdown, [(table.name, table.as_markdown())])


def _table(known: Mapping[str, Sample]) -> Table:
    long = long_pdf(_PAGES)
    columns = [_column(name, reader, known, long) for name, reader in READERS.items()]
    rows = zip((*known, f"ms a page of {_PAGES}", "MB installed", "licence"), *columns, strict=True)
    return Table(
        name="readers",
        title="Words recovered in their order",
        header=("document", *READERS),
        rows=tuple(tuple(row) for row in rows),
    )


def _column(name: str, reader: Reader, known: Mapping[str, Sample], long: bytes) -> Iterator[str]:
    for sample in known.values():
        if sample.suffix == ".docx" and name not in DOCX:
            yield "-"
        else:
            yield _score(reader.text(sample.suffix, sample.content), sample.words)
    reader.text(".pdf", next(iter(known.values())).content)
    begun = process_time()
    reader.text(".pdf", long)
    yield f"{(process_time() - begun) * 1000 / _PAGES:.1f}"
    names = _needed(reader.package, _EXTRAS.get(reader.package, frozenset()))
    names |= _OURS if name in DOCX and reader.package == "pypdf" else frozenset()
    yield f"{sum(map(_size, names)) / _MEGABYTE:.0f}"
    yield _licence(reader.package)


def _score(text: str, words: tuple[str, ...]) -> str:
    """The share of the words that stand in the text in their order; of no words, none made up."""
    found = [word for word in _MARKS.sub(" ", text).split() if word.strip(".")]
    wanted = [word for word in _MARKS.sub(" ", " ".join(words)).split() if word.strip(".")]
    if not wanted:
        return "none" if not found else f"{len(found)} made up"
    matcher = SequenceMatcher(None, wanted, found, autojunk=False)
    return f"{sum(block.size for block in matcher.get_matching_blocks()) / len(wanted):.2f}"


def _needed(package: str, extras: frozenset[str]) -> frozenset[str]:
    """The package and what it needs, those that are installed."""
    found = {package}
    for line in requires(package) or ():
        requirement, _, marker = line.partition(";")
        wanted = re.findall(r"extra\s*==\s*['\"]([\w-]+)['\"]", marker)
        name = re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0]
        if (not wanted or extras & set(wanted)) and _size(name) and name not in found:
            found |= _needed(name, frozenset())
    return frozenset(found)


def _size(package: str) -> int:
    try:
        files = distribution(package).files or ()
    except ModuleNotFoundError:
        return 0
    places = (Path(str(file.locate())) for file in files if file.suffix != ".pyc")
    return sum(place.stat().st_size for place in places if place.is_file())


def _licence(package: str) -> str:
    told: dict[str, Any] = distribution(package).metadata.json
    named = str(told.get("license_expression") or told.get("license") or "")
    return named.partition("\n")[0][:60] or "not said"


if __name__ == "__main__":
    main()
