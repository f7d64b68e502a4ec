"""Mechanics: spelling, grammar, punctuation, wordiness. Needs no model."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from anyio import to_thread

from sifaka._internal.immutable import Frozen
from sifaka.calls.component import Component, data_spec
from sifaka.record.results import CriticFeedback, Issue, Verdict
from sifaka.record.thought import Thought
from sifaka.text.prose import count_words
from sifaka.validators.spec import Name

if TYPE_CHECKING:
    from sifaka.editor import Lint

BLOCKING = 3
"""The severity from which a mistake that cannot be fixed safely still asks for a revision."""

ENOUGH = 0.8
"""The least score of mechanics that is accepted."""

SUGGESTIONS = 8
"""The most different suggestions that are passed on."""


class LintCritic(Frozen, Component):
    """Reads a text for mistakes of form; whether it is true or useful is not its concern."""

    type: Literal["lint"] = "lint"
    name: Name = "lint"

    def spec(self) -> Mapping[str, object]:
        """Its type and its options."""
        return data_spec(self)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The issues that the editor's rules find in `thought.text`.

        Without a vote when nothing was examined, as in a text that is not English.
        """
        from sifaka.editor import lint

        report = await to_thread.run_sync(lint, thought.text)
        accept: Verdict | None = "accept" if report.checked else None
        score = _score(thought.text, report.issues)
        grave = any(issue.safe or issue.severity >= BLOCKING for issue in report.issues)
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if grave or score < ENOUGH else accept,
            scores={"mechanics": score} if report.checked else {},
            issues=report.issues,
            suggestions=_suggestions(report.issues),
            confidence=_confidence(report) if report.checked else None,
            judges_task=False,
            degraded=report.degraded,
        )


def _score(text: str, issues: tuple[Issue, ...]) -> float:
    """1 for a text without issues; 0 from a severity of 10 points per 100 words."""
    points = sum(issue.severity for issue in issues)
    hundreds = max(count_words(text), 100) / 100
    return round(max(0.0, 1 - points / hundreds / 10), 3)


def _confidence(report: "Lint") -> float:
    """The confidence in the verdict, 0 to 1.

    Safe findings are right about 95 times in 100. That nothing was found means less: the rules see
    only some kinds of mistakes, and fewer when a tool is missing.
    """
    if any(issue.safe for issue in report.issues):
        return 0.95
    return max(0.2, 0.6 - 0.2 * len(report.degraded))


def _suggestions(issues: tuple[Issue, ...]) -> tuple[str, ...]:
    ordered = sorted(issues, key=lambda issue: (not issue.safe, -issue.severity))
    return tuple(dict.fromkeys(issue.message for issue in ordered))[:SUGGESTIONS]
