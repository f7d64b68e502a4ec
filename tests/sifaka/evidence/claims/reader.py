"""A model that knows nothing: it judges by what stands in the prompt, words and numbers alone."""

import re
from collections.abc import Mapping
from typing import Any

from sifaka.record.thought import Thought
from sifaka.text.prose import sentences
from tests.sifaka.critics.scripted_judge import Answer, Asked
from tests.stubs.judged_documents import framed, judgements

_COMMON = frozenset(
    re.findall(
        r"\w+",
        """the a an of in on at by to and or is are was were it its he she they from for with has
        have had that this after before since as be been about""",
    )
)


def reads(asked: Asked) -> Answer:
    """Every sentence of a text is a claim; a claim is judged by the nearest sentence of a document.

    With the claim's words and its numbers that sentence supports it, with other numbers it
    contradicts it, and a document without such a sentence says nothing about it.
    """
    if "claims" in asked.fields:
        text = framed(asked.question, "text")
        parts = [text[start:end] for start, end in sentences(text)]
        return {"claims": [{"quote": p, "claim": p, "need": 0.9} for p in parts]}
    if "answers" in asked.fields:
        return {"answers": [_second(*each) for each in second_question(asked.question)]}
    return judgements(asked.question, _judgement)


def second_question(question: str) -> list[tuple[str, str, str]]:
    """The id, the claim and the passage of each claim that is asked about once more."""
    return [
        (part.split(":", 1)[0], framed(part, "claim"), framed(part, "passage"))
        for part in re.split(r"^Claim (?=\d+:)", question, flags=re.MULTILINE)[1:]
    ]


def _second(name: str, claim: str, passage: str) -> Mapping[str, Any]:
    return {"id": name, "missing": "", "says": numbers(claim) <= numbers(passage)}


def _judgement(_criterion: str, claim: str, document: str) -> Mapping[str, Any]:
    _, _, body = document.partition("\n\n")
    parts = [body[start:end] for start, end in sentences(body)]
    wanted = _words(claim)
    nearest = max(parts, key=lambda part: len(wanted & _words(part)), default="")
    shared = len(wanted & _words(nearest)) / max(1, len(wanted))
    if shared < 0.6:
        return {"judgement": "reject", "contradicts": False, "quotes": []}
    if numbers(claim) <= numbers(nearest):
        return {"judgement": "support", "quotes": [nearest]}
    return {"judgement": "reject", "contradicts": True, "quotes": [nearest]}


def numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,]\d+)*", text))


def _words(text: str) -> set[str]:
    return {w for w in re.findall(r"[^\W\d_]+", text.casefold()) if w not in _COMMON}


def correct(thought: Thought) -> str:
    """The text with the numbers that the issues of its validators quote from sources."""
    text = thought.text
    for result in thought.validation_results.values():
        for issue in result.issues:
            said = re.search(r"says (['\"])(.+?)\1(?:;|$)", issue.message)
            if issue.severity < 4 or said is None:
                continue
            wrong, right = numbers(issue.quote), numbers(said.group(2))
            mended = issue.quote
            for old, new in zip(sorted(wrong - right), sorted(right - wrong), strict=False):
                mended = mended.replace(old, new)
            text = text.replace(issue.quote, mended)
    return text
