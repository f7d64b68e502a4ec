"""The text of a run in an answer: whole, as changes of what the caller has, or not again."""

import json
from typing import Literal

from pydantic import BaseModel, field_validator

from sifaka.chain import RunResult
from sifaka.record.diff import Hunk, diff, edits_of
from sifaka.record.provenance import reasons_for
from sifaka.record.thought import Thought
from sifaka_mcp.schemas.untrusted import Foreign, Remark
from sifaka_mcp.schemas.wire import Wire

Return = Literal["auto", "text", "diff", "none"]
"""How an answer gives the text. `auto`: `unchanged` where the caller has it, changes alone where
they are shorter by half, else all of it; a short one with its changes."""
SHORT = 2_000
"""Characters up to which a changed text is always given whole."""
LONG = 4_000
"""Characters from which a text is linked, and does not stand in both parts of an answer."""


class HunkOut(Wire):
    """One change, and the issue that asked for it, if one did."""

    op: Literal["insert", "delete", "replace"]
    before: Foreign
    after: Foreign
    reason: Remark

    @field_validator("reason", mode="before")
    @classmethod
    def _told(cls, reason: object) -> object:
        return "" if reason is None else reason


class TextOut(BaseModel):
    """A text in an answer. Null where it is `unchanged` or `diff` says all of it.

    Each `before` of such a `diff` occurs once in the text that the caller has.
    """

    text: Foreign | None = None
    unchanged: bool = False
    text_uri: str | None = None
    diff: list[HunkOut] = []

    @classmethod
    def whole(cls, result: RunResult) -> "TextOut":
        """All of it, with the changes from version 0."""
        return cls(text=Foreign(result.text), diff=[HunkOut.of(hunk) for hunk in result.changes])

    @classmethod
    def of(cls, result: RunResult, how: Return, known: str | None) -> "TextOut":
        """As much of it as the caller needs.

        Args:
            result: The run.
            how: As the caller wants it.
            known: The text that the caller has; None when it has none.
        """
        text, uri = result.text, None
        whole = Foreign(text)
        if len(text) > LONG:
            uri = f"thought://{result.thought.id}/text"
        if how in {"auto", "none"} and text == known:
            return cls(unchanged=True, text_uri=uri)
        if how == "none":
            return cls(text_uri=uri)
        if how == "text" or known is None:
            return cls(text=whole, text_uri=uri, unchanged=text == known)
        if how == "auto" and len(text) <= SHORT:
            return cls(text=whole, diff=[HunkOut.of(h) for h in _hunks(result, known)])
        edits = edits_of(_hunks(result, known, equal=True))
        told = [
            HunkOut.model_validate(
                {"op": "replace", "before": edit.find, "after": edit.replace, "reason": edit.reason}
            )
            for edit in edits or ()
        ]
        if edits is not None and (how == "diff" or _characters(told) <= len(text) / 2):
            return cls(diff=told, text_uri=uri, unchanged=text == known)
        return cls(text=whole, text_uri=uri)


def _hunks(result: RunResult, known: str, *, equal: bool = False) -> list[Hunk]:
    original = result.run.original
    is_first = original is not None and known == original.text
    hunks = result.diff if is_first else diff(known, result.text)
    return [hunk for hunk in hunks if equal or hunk.op != "equal"]


def _characters(hunks: list[HunkOut]) -> int:
    return len(json.dumps([hunk.model_dump() for hunk in hunks], ensure_ascii=False))


def changes(before: Thought | None, after: Thought) -> list[HunkOut]:
    """The changes from one version to the one that was made of it."""
    if before is None or before.id == after.id:
        return []
    hunks = diff(before.text, after.text, reasons_for(before, after))
    return [HunkOut.of(hunk) for hunk in hunks if hunk.op != "equal"]
