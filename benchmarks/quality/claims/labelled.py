"""The labelled claims and the documents that they are about."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from sifaka.record.thought import Document
from sifaka.text.prose import sentence_spans

SetName = Literal["tuning", "held_out"]
Kind = Literal[
    "supported", "number", "negated", "attributed", "absent", "verbatim", "reworded", "name", "unit"
]
TRUE: frozenset[Kind] = frozenset({"supported", "verbatim", "reworded"})
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledClaim:
    """A claim, true or false by its document.

    `supported` is true, said in other words; `verbatim` is a sentence of the document, `reworded`
    one in which a number, a unit or punctuation is written otherwise. All others are false.
    """

    document: str
    """The document's name."""
    kind: Kind
    claim: str
    sentence: str
    """The sentence that supports it, or that it distorts; empty where there is none."""

    @property
    def is_true(self) -> bool:
        """True when the document says so."""
        return self.kind in TRUE


@dataclass(frozen=True, kw_only=True)
class Page:
    """A document with its claims."""

    name: str
    title: str
    text: str
    claims: tuple[LabelledClaim, ...]

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Its sentences, the title left out."""
        return tuple(self.text[slice(*span)] for span in sentence_spans(self.text))

    @property
    def as_document(self) -> Document:
        """The document as the checker takes it."""
        return Document(text=self.text, title=self.title, id=self.name)


def load(name: SetName, *, near: bool = False) -> tuple[Page, ...]:
    """The documents of one half with their claims.

    Args:
        name: The half.
        near: True for the claims that are sentences of the documents, or one change away from one;
            False for those in words of their own.
    """
    lines = (
        (_HERE / f"{'near_' if near else ''}{name}.jsonl").read_text(encoding="utf-8").splitlines()
    )
    claims = [LabelledClaim(**json.loads(line)) for line in lines]
    return tuple(
        _page(name, tuple(each for each in claims if each.document == name))
        for name in dict.fromkeys(each.document for each in claims)
    )


def _page(name: str, claims: tuple[LabelledClaim, ...]) -> Page:
    text = (_HERE / "documents" / f"{name}.txt").read_text(encoding="utf-8")
    title, _, body = text.partition("\n\n")
    return Page(name=name, title=title, text=body.strip(), claims=claims)
