"""The rule-based editor as a writer: what can be mended without a model."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio.to_thread

from sifaka.models.protocol import Generation
from sifaka.record.results import Issue
from sifaka.record.thought import EDITOR, Thought

if TYPE_CHECKING:
    from sifaka.editor import Edited


class EditorModel:
    """A writer that makes the safe edits and applies the certain fixes of validators.

    When nothing but the length is wrong after that, it cuts at a sentence boundary, provided that
    the shorter text then passes everything. A text it cannot better comes back unchanged.

    Args:
        passes: Checks that a version would pass every required validator; without it nothing is
            cut, which suits a text that is going to be rewritten anyway.
    """

    name = EDITOR

    def __init__(self, passes: Callable[[Thought], Awaitable[bool]] | None = None) -> None:
        self._passes = passes

    async def generate_with_thought(self, thought: Thought) -> Generation:
        """The edited text; see `Model`."""
        from sifaka.editor import edit

        edited = await anyio.to_thread.run_sync(edit, thought.text, _certain_fixes(thought))
        if edited.text == thought.text:
            edited = await self._cut(thought) or edited
        log = [{"rule": e.rule, "before": e.before, "after": e.after} for e in edited.edits]
        return Generation(text=edited.text, metadata={"edits": log} if log else {})

    async def _cut(self, thought: Thought) -> "Edited | None":
        from sifaka.editor import Edited, cut

        if self._passes is None:
            return None
        limits = [
            issue.start
            for result in thought.validation_results.values()
            if result.required and not result.passed
            for issue in result.issues
            if issue.category == "length" and issue.start is not None
        ]
        shorter = cut(thought.text, min(limits)) if limits else None
        if shorter is None or not await self._passes(thought.with_text(shorter)):
            return None
        return Edited(text=shorter, edits=())


def _certain_fixes(thought: Thought) -> tuple[Issue, ...]:
    return tuple(
        issue
        for result in thought.validation_results.values()
        for issue in result.issues
        if issue.safe and issue.fix is not None
    )
