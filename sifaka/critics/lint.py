"""Mechanics: spelling, grammar and spacing. Needs no model."""

from functools import partial
from typing import Literal

from sifaka.calls.component import DataComponent
from sifaka.errors import PluginError
from sifaka.record.results import CriticFeedback, Verdict
from sifaka.record.thought import Thought
from sifaka.text.words import count_words
from sifaka.validators.spec import Name

BLOCKING = 3
"""The severity from which a mistake that cannot be fixed safely still asks for a revision."""

ENOUGH = 0.8
"""The least score of mechanics that is accepted."""

SUGGESTIONS = 8
"""The most different suggestions that are passed on."""

MOST = 1_000
"""The most issues that are listed; score and verdict are those of all."""


FormatName = Literal["markdown", "mdx", "rst", "asciidoc", "latex", "html", "text"]
"""The formats of texts."""


class LintCritic(DataComponent):
    """Reads a text for mistakes of form; whether it is true or useful is not its concern."""

    type: Literal["lint"] = "lint"
    name: Name = "lint"
    format: FormatName | None = None
    """The format of the text; recognised by its look when None."""

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The issues that the editor's rules find in `thought.text`.

        Without a vote when nothing was examined, as in a text that is not English.
        """
        from sifaka.editor.isolated import run_editor
        from sifaka.editor.report import lint
        from sifaka.text.formats import Format

        format = Format(self.format) if self.format else None
        try:
            report = await run_editor(thought.text, partial(lint, thought.text, format=format))
        except PluginError as error:
            line = f"mechanics: not checked, {error.message}"
            return CriticFeedback(critic=self.name, judges_task=False, degraded=(line,))
        accept: Verdict | None = "accept" if report.checked else None
        score = 1.0
        if points := sum(issue.severity for issue in report.issues):
            hundreds = max(count_words(thought.text), 100) / 100
            score = round(max(0.0, 1 - points / hundreds / 10), 3)  # 0 from 10 per 100 words
        grave = any(issue.safe or issue.severity >= BLOCKING for issue in report.issues)
        # Safe findings are right about 95 times in 100. That nothing was found means less: the
        # rules see only some kinds of mistakes, and fewer when a tool is missing.
        is_safe = any(issue.safe for issue in report.issues)
        confidence = 0.95 if is_safe else max(0.2, 0.6 - 0.2 * len(report.degraded))
        ordered = sorted(report.issues, key=lambda issue: (not issue.safe, -issue.severity))
        unlisted = len(report.issues) - MOST
        more = (f"mechanics: {unlisted:,} more issues are not listed",) if unlisted > 0 else ()
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if grave or score < ENOUGH else accept,
            scores={"mechanics": score} if report.checked else {},
            issues=report.issues[:MOST],
            suggestions=tuple(dict.fromkeys(issue.message for issue in ordered))[:SUGGESTIONS],
            confidence=confidence if report.checked else None,
            judges_task=False,
            degraded=(*report.degraded, *more),
        )
