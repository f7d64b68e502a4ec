"""Changes of a text, in their wire form."""

from typing import Literal, cast

from pydantic import BaseModel

from sifaka.record.diff import Hunk, diff
from sifaka.record.provenance import reasons_for
from sifaka.record.thought import Thought

NOBODY_ASKED = "no issue asked for it"
"""The reason of a change that has none."""


class HunkOut(BaseModel):
    """One change against the input, and the issue that asked for it, if one did."""

    op: Literal["insert", "delete", "replace"]
    before: str
    after: str
    reason: str

    @classmethod
    def of(cls, hunk: Hunk) -> "HunkOut":
        """The wire form of a hunk that changes something."""
        return cls(
            op=cast("Literal['insert', 'delete', 'replace']", hunk.op),
            before=hunk.before,
            after=hunk.after,
            reason=hunk.reason or NOBODY_ASKED,
        )


def changes(before: Thought | None, after: Thought) -> list[HunkOut]:
    """The changes from one version to the one that was made of it."""
    if before is None or before.id == after.id:
        return []
    hunks = diff(before.text, after.text, reasons_for(before, after))
    return [HunkOut.of(hunk) for hunk in hunks if hunk.op != "equal"]
