"""Reading Markdown documents: their code blocks, tables and links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = tuple(
    path.relative_to(ROOT).as_posix()
    for path in (
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md")),
        *sorted((ROOT / "docs").glob("*.md")),
    )
)
RUN = tuple(document for document in DOCUMENTS if document != "docs/benchmarks.md")
"""The documents whose code is run; what the other one shows takes minutes."""
_FENCE = re.compile(r"^```(\S*)[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Block:
    language: str
    content: str
    line: int
    """Of its opening fence, from 1."""
    adjoining: bool
    """Whether only white space lies between it and the block before."""


def read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document: str, *languages: str) -> list[Block]:
    """A document's code blocks in these languages, or all of them."""
    found = list(_blocks(read(document)))
    return [block for block in found if not languages or block.language in languages]


def _blocks(text: str) -> Iterator[Block]:
    end = 0
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        adjoining = end > 0 and not text[end : match.start()].strip()
        yield Block(match.group(1), match.group(2), line, adjoining)
        end = match.end()


def prose(text: str) -> str:
    return _FENCE.sub("", text)


def headings(text: str) -> list[str]:
    return [match.group(2) for match in _HEADING.finditer(prose(text))]


def anchors(text: str) -> set[str]:
    """The fragments that GitHub makes of the headings."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(text)
    }


def links(text: str) -> list[str]:
    return _LINK.findall(prose(text))


def section(document: str, heading: str) -> str:
    """What stands under a heading, up to the next one of the same or a higher level."""
    text = read(document)
    # What stands in a code block is no heading: its characters make room for as many others.
    outside = _FENCE.sub(lambda match: re.sub(r"[^\n]", ".", match.group()), text)
    start = next(m for m in _HEADING.finditer(outside) if m.group(2) == heading)
    level = len(start.group(1))
    following = (m for m in _HEADING.finditer(outside, start.end()) if len(m.group(1)) <= level)
    end = next(following, None)
    return text[start.end() : end.start() if end else len(text)]


def table(text: str) -> list[list[str]]:
    """The rows of the first table, its header left out."""
    rows: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            rows.append([cell.strip() for cell in cells])
        elif rows:
            break
    assert len(rows) > 2, "there is a table with rows"
    return rows[2:]


def code(text: str) -> list[str]:
    """The contents of the code spans, in order."""
    return _CODE.findall(text)
