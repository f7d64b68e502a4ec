"""The rule-based editor as a writer: what can be mended without a model."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread

from sifaka.errors import PluginError
from sifaka.models import Generation
from sifaka.record.entries import Fixes
from sifaka.record.rule_choice import RuleChoice
from sifaka.record.thought import EDITOR, Thought
from sifaka.validators.execution import ValidatorComponent, run_validators

if TYPE_CHECKING:
    from sifaka.editor import Edited


@dataclass(frozen=True, slots=True)
class EditorModel:
    """A writer that makes the safe edits and applies the certain fixes of validators.

    With `suggested` it makes those edits too that need a judgement, where they have one fix. A text
    it cannot better comes back unchanged; none is cut to meet a length.
    """

    validators: Sequence[ValidatorComponent] = ()
    """Those that its edits of a model's answer must not cost."""
    fixes: Fixes | None = "safe"
    """The fixes that it makes."""
    format: str | None = None
    """The format of the text; recognised by its look when None."""
    rules: RuleChoice | None = None
    """The rules whose findings it mends; `default` when None."""
    name: str = field(default=EDITOR, init=False)

    async def edit_input(self, thought: Thought) -> Generation:
        """The text with the safe edits and the certain fixes of validators."""
        from sifaka.editor import edit
        from sifaka.editor.isolated import run_editor
        from sifaka.text.formats import Format

        certain = tuple(
            issue
            for result in thought.validation_results.values()
            for issue in result.issues
            if issue.safe and issue.fix is not None
        )
        work = partial(
            edit,
            thought.text,
            certain,
            fixes="suggested" if self.fixes == "suggested" else "safe",
            format=Format(self.format) if self.format else None,
            rules=self.rules,
        )
        try:
            edited = await run_editor(thought.text, work)
        except PluginError:  # a text that takes too much stays as it is
            return Generation(text=thought.text)
        if not edited.edits:
            return Generation(text=edited.text)
        return await to_thread.run_sync(_record_edits, edited)

    async def edit_answer(self, thought: Thought, answer: Generation) -> Generation:
        """A model's version after a thought, with the safe edits.

        It stays as it is where they would cost it a required validator.
        """
        edited = await self.edit_input(thought.with_text(answer.text))
        if not edited.metadata or await self._breaks_rules(thought, answer.text, edited.text):
            return answer
        metadata = {**answer.metadata, **edited.metadata}
        return answer.model_copy(update={"text": edited.text, "metadata": metadata})

    async def _breaks_rules(self, thought: Thought, written: str, edited: str) -> bool:
        """True when a text passes the required validators and its edited form does not."""
        fails = self.validators and not await self._passes(thought.with_text(edited))
        return bool(fails) and await self._passes(thought.with_text(written))

    async def _passes(self, thought: Thought) -> bool:
        # An edit that is only tried is no reason to search: facts stay as they are in any edit.
        local = [each for each in self.validators if not each.claim_checks]
        results = await run_validators(local, thought, thought.text)
        return all(r.passed for r in results.values() if r.required)


def _record_edits(edited: "Edited") -> Generation:
    log = [{f.name: getattr(edit, f.name) for f in fields(edit)} for edit in edited.edits]
    return Generation(text=edited.text, metadata={"edits": log})
