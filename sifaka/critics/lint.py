"""What the editor's rules find: mistakes of form, and stock prose. Needs no model."""

from collections.abc import Sequence
from functools import partial
from typing import Literal, Self

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from sifaka.calls.component import Binding, DataComponent
from sifaka.errors import PluginError
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.rule_choice import RuleChoice
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
MOST_HABITS = 7
"""Kinds of stock prose that are named, the worst."""

FormatName = Literal["markdown", "mdx", "rst", "latex", "html", "text"]
"""The formats of texts."""


class EditorCritic(DataComponent):
    """A critic that asks the editor's rules."""

    format: FormatName | None = None
    """The format of the text; recognised by its look when None."""
    rules: SkipJsonSchema[RuleChoice | None] = Field(default=None, exclude=True)
    """Those that are wanted: the chain tells them."""

    def bind(self, binding: Binding) -> Self:
        """The critic with the rules of the chain, and with its format where it names none."""
        return self.model_copy(
            update={"rules": binding.rules, "format": self.format or binding.format}
        )


class LintCritic(EditorCritic):
    """Reads a text for mistakes of form; whether it is true or useful is not its concern."""

    type: Literal["lint"] = "lint"
    name: Name = "lint"

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The issues that the editor's rules find in `thought.text`.

        Without a vote when nothing was examined, as in a text that is not English.
        """
        from sifaka.editor.isolated import run_editor
        from sifaka.editor.report import lint
        from sifaka.text.formats import Format

        text, format = thought.text, Format(self.format) if self.format else None
        try:
            report = await run_editor(text, partial(lint, text, format=format, rules=self.rules))
        except PluginError as error:
            return _withhold_vote(self.name, None, f"mechanics: not checked, {error.message}")
        if not (report.checked or report.issues):
            return _withhold_vote(self.name, "; ".join(report.degraded))
        score = 1.0
        if points := sum(issue.severity for issue in report.issues):
            hundreds = max(count_words(text), 100) / 100
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
            verdict="revise" if grave or score < ENOUGH else "accept" if report.checked else None,
            scores={"mechanics": score},
            issues=report.issues[:MOST],
            suggestions=tuple(dict.fromkeys(issue.message for issue in ordered))[:SUGGESTIONS],
            confidence=confidence,
            judges_task=False,
            degraded=(*report.degraded, *more),
        )


class StyleCritic(EditorCritic):
    """Finds stock prose and says what to do about it; it asks for nothing, and has no vote."""

    type: Literal["style"] = "style"
    name: Name = "style"

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The worst findings of at most seven kinds, and a score of 0 to 1.

        No score under 60 words, and nothing in quotes, code, verses and other languages.
        """
        from sifaka.editor.isolated import run_editor

        read = partial(find_stock_prose, self.name, thought.text, self.format, self.rules)
        try:
            return await run_editor(thought.text, read)
        except PluginError as error:
            return _withhold_vote(self.name, None, f"style: not checked, {error.message}")


def _withhold_vote(critic: str, reason: str | None = None, *degraded: str) -> CriticFeedback:
    """Feedback without a vote, of a text that was not read, or of rules that broke."""
    return CriticFeedback(critic=critic, judges_task=False, reason=reason, degraded=degraded)


def find_stock_prose(
    critic: str, text: str, named: FormatName | None = None, rules: RuleChoice | None = None
) -> CriticFeedback:
    """What `StyleCritic` says of a text."""
    from sifaka.editor.parsed_text import ParsedText
    from sifaka.editor.report import MOSTLY
    from sifaka.editor.rules import stock_prose
    from sifaka.text.formats import UNCHECKED, Format, recognise

    format = Format(named) if named else recognise(text)
    if format in UNCHECKED:
        return _withhold_vote(critic, UNCHECKED[format])
    parsed = ParsedText.read(text, format)
    if parsed.foreign_share > MOSTLY:
        return _withhold_vote(critic, "the text is not in English")
    issues, score = stock_prose(parsed, MOST_HABITS, rules)
    scores = {} if score is None else {"style": score}
    return CriticFeedback(critic=critic, judges_task=False, issues=issues, scores=scores)


def worst_style(feedback: CriticFeedback) -> Sequence[Issue]:
    """The findings of a `StyleCritic`, if the text has more of them than people's texts have."""
    from sifaka.editor.style import USUAL

    return feedback.issues if feedback.scores.get("style", 1.0) < USUAL else ()
