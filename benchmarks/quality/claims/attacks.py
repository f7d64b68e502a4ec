"""Claims that are one word, or one turn, away from the sentence that is quoted for them."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

from sifaka.evidence.claims.bearing import disagreement, passage_of
from sifaka.evidence.claims.comparison import judged_by_rule, sentences_near
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.quotes import QuotableText
from sifaka.text.prose import sentence_spans

ROUNDS: Sequence[str] = ("first", "second", "third", "fourth")
"""The first three were then used to make the rules; the fourth was written after them."""
_FILE = Path(__file__).parent / "attacks.jsonl"


class Passed(NamedTuple):
    """What came through, of the claims of one round."""

    false: int
    supported: Sequence[str]
    """False claims for which some quote stands."""
    true: int
    refused: Sequence[str]
    """True claims for which no quote stands."""
    wrong: Sequence[str]
    """Claims that the rules alone judge wrongly."""


def attacked(name: str) -> Passed:
    """The claims of a round, by a judge who says `supports` of all and tries every quote.

    That is each sentence of the document alone, and all of them together.
    """
    false, true = list[str](), list[str]()
    supported, refused, wrong = list[str](), list[str](), list[str]()
    for text, claim, is_true in _claims(name):
        (true if is_true else false).append(claim)
        stands = _stands(text, claim)
        if stands and not is_true:
            supported.append(claim)
        if is_true and not stands:
            refused.append(claim)
        judged = judged_by_rule(claim, SourceDocument(text=text))
        if judged is not None and is_true != (judged.judgement == "support"):
            wrong.append(claim)
    return Passed(len(false), supported, len(true), refused, wrong)


def _stands(text: str, claim: str) -> bool:
    document, quotable = SourceDocument(text=text), QuotableText(text)
    near = [*sentences_near(claim, document)]
    sentences = [text[slice(*span)] for span in sentence_spans(text)]
    return any(
        not disagreement(claim, [passage_of(quote, quotable, "") for quote in quotes], near)
        for quotes in (*([each] for each in sentences), sentences)
    )


class _Line(TypedDict):
    set: str
    text: str
    true: list[str]
    false: list[str]


def _claims(name: str) -> Iterator[tuple[str, str, bool]]:
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        told: _Line = json.loads(line)
        if told["set"] == name:
            yield from ((told["text"], claim, True) for claim in told["true"])
            yield from ((told["text"], claim, False) for claim in told["false"])
