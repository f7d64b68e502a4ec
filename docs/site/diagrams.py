"""The diagrams of the documents: Mermaid in the pages, and a drawing of each in `docs/assets`.

GitHub draws Mermaid itself. The site loads nothing from elsewhere, so it shows the drawings.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[1]
SCHEMES = ("light", "dark")
_FENCE = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)

_LIGHT = re.compile(r"!\[([^\]]*)\]\((assets/\S+)-light\.(png|svg)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagram:
    """A diagram of a page."""

    page: str
    """The page's name without its ending."""
    number: int
    """Its place among those of the page, from 1."""
    source: str

    @property
    def name(self) -> str:
        """The name of its drawings, without the scheme."""
        return f"{self.page}-{self.number}"

    @property
    def digest(self) -> str:
        """The digest that a drawing of this source has in its root element."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:16]

    def path(self, scheme: str) -> Path:
        """The file of its drawing in a colour scheme."""
        return DOCS / f"assets/{self.name}-{scheme}.svg"


def diagrams() -> Iterator[Diagram]:
    """Every diagram of the documents."""
    for path in sorted(DOCS.glob("*.md")):
        found = _FENCE.finditer(path.read_text(encoding="utf-8"))
        for number, match in enumerate(found, 1):
            yield Diagram(page=path.stem, number=number, source=match.group(1))


def with_drawings(markdown: str, page: str) -> str:
    """A page whose diagrams are pictures, and whose light pictures have a dark one beside them."""
    numbers = iter(range(1, markdown.count("```mermaid\n") + 1))

    def pictures(match: re.Match[str]) -> str:
        diagram = Diagram(page=page, number=next(numbers), source=match.group(1))
        return "\n".join(
            f"![Diagram](assets/{diagram.path(scheme).name}#only-{scheme})" for scheme in SCHEMES
        )

    both = r"![\1](\2-light.\3#only-light)\n![\1](\2-dark.\3#only-dark)"
    return _LIGHT.sub(both, _FENCE.sub(pictures, markdown))
