"""Stock prose: what the editor's rules for it find, told to whoever writes. Needs no model."""

from functools import partial
from typing import Literal

from sifaka.calls.component import DataComponent
from sifaka.critics.lint import FormatName
from sifaka.errors import PluginError
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.validators.spec import Name

MOST = 7
"""Kinds of findings that are named, the worst."""


class StyleCritic(DataComponent):
    """Finds stock prose and says what to do about it; it asks for nothing, and has no vote."""

    type: Literal["style"] = "style"
    name: Name = "style"
    format: FormatName | None = None
    """The format of the text; recognised by its look when None."""

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The worst findings of at most seven kinds, and a score of 0 to 1.

        No score under 60 words, and nothing in quotes, code, verses and other languages.
        """
        from sifaka.editor.isolated import run_editor

        read = partial(_read, thought.text, self.format)
        try:
            feedback = await run_editor(thought.text, read)
        except PluginError as error:
            feedback = _unread(error.message)
        return feedback.model_copy(update={"critic": self.name})


def _read(text: str, named: FormatName | None) -> CriticFeedback:
    from sifaka.editor.parsed_text import ParsedText
    from sifaka.editor.report import MOSTLY
    from sifaka.editor.style import worst_habits
    from sifaka.text.formats import UNCHECKED, Format, recognise

    format = Format(named) if named else recognise(text)
    if format in UNCHECKED:
        return _unread(UNCHECKED[format])
    parsed = ParsedText.read(text, format)
    if parsed.foreign_share > MOSTLY:
        return _unread("the text is not in English")
    issues, score = worst_habits(parsed, MOST)
    scores = {} if score is None else {"style": score}
    return CriticFeedback(judges_task=False, issues=issues, scores=scores)


def _unread(reason: str) -> CriticFeedback:
    return CriticFeedback(judges_task=False, degraded=(f"style: not checked, {reason}",))
