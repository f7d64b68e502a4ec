"""What was changed, on the wire."""

from typing import Literal

from pydantic import BaseModel

from sifaka.diff import diff
from sifaka.results import Issue
from sifaka.thought import Thought


class HunkOut(BaseModel):
    """One change against the input, and the issue that asked for it, if one did."""

    op: Literal["insert", "delete", "replace"]
    before: str
    after: str
    reason: str | None


def changes(before: Thought | None, after: Thought) -> list[HunkOut]:
    """The changes from one version to a later one."""
    if before is None or before.id == after.id:
        return []
    return [
        HunkOut(op=hunk.op, before=hunk.before, after=hunk.after, reason=hunk.reason)
        for hunk in diff(before.text, after.text, issues_of(before))
        if hunk.op != "equal"
    ]


def issues_of(thought: Thought) -> list[Issue]:
    """Everything that validators and critics have pointed at in a version."""
    found = [i for r in thought.validation_results.values() for i in r.issues]
    return found + [i for f in thought.critic_feedback for i in f.issues]
