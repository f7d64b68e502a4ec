"""Self-Refine: feedback by aspect, each scored."""

from typing import Literal, Self

from pydantic import Field, PrivateAttr

from sifaka.calls.component import Binding
from sifaka.critics.judge import KEEPS_FACTS, REPORTS, REVIEWER, JudgingCritic
from sifaka.critics.lint import StyleCritic, worst_style
from sifaka.critics.opinion import Opinion, feedback_of
from sifaka.models.prompt import Prompt, frame, original_of
from sifaka.record.results import PREFERRED, CriticFeedback, Preferred
from sifaka.record.rule_choice import RuleChoice
from sifaka.record.thought import EDITOR, Thought
from sifaka.validators.spec import Name

PROMPT = Prompt(
    purpose="Finds what to change in a text, aspect by aspect.",
    task=f"{REVIEWER} Judge it on each aspect in `aspects`.",
    rules=(
        "Compare the text with the task first, then with each aspect.",
        "Score each aspect from 0 (fails) to 1 (nothing to improve), under its own name.",
        "For each aspect below 0.8, report the places that lower it.",
        KEEPS_FACTS,
        *REPORTS,
        "If `original` is shown, last put `original`, `text` or `neither` into `better`: which one "
        "serves the task and the readers better? Their length says nothing.",
    ),
)


class _Review(Opinion, title="Opinion"):
    __doc__ = Opinion.__doc__

    better: Preferred | None = Field(
        default=None, description="the better one of the two, where `original` is shown"
    )


class SelfRefineCritic(JudgingCritic):
    """Scores the text aspect by aspect and says what to change.

    The feedback half of Self-Refine (Madaan et al. 2023, arXiv 2303.17651); the refining half is
    the chain's. One model call, depth one. It judges in a context of its own, apart from the
    writer's.
    """

    type: Literal["self_refine"] = "self_refine"
    name: Name = "self_refine"
    aspects: tuple[str, ...] = Field(
        default=("fulfils the task", "clear", "complete", "concise", "correct"), min_length=1
    )

    _rules: RuleChoice | None = PrivateAttr(default=None)

    def bind(self, binding: Binding) -> Self:
        """The critic with its model opened, and with the rules of the chain for stock prose."""
        bound = super().bind(binding)
        bound._rules = binding.rules  # noqa: SLF001 - its own class
        return bound

    async def critique(self, thought: Thought) -> CriticFeedback:
        """One opinion, with a score for each aspect and a comparison with the original."""
        listed = "\n".join(f"- {aspect}" for aspect in self.aspects)
        standards = [frame("aspects", listed, lasting=True)]
        style = await StyleCritic(rules=self._rules).critique(thought)
        unwanted = self._rules is not None and style.critic in self._rules.ignore
        if not unwanted and (worst := worst_style(style)):
            lines = "\n".join(f"- {issue.quote!r} {issue.message}" for issue in worst)
            standards += (frame("stock prose", lines), "Report of it what a reader would mind.")
        opinion, usage = await self._ask(PROMPT, self._question(thought, *standards), _Review)
        compared = bool(original_of(thought)) and thought.author != EDITOR
        better = {PREFERRED: opinion.better} if opinion.better and compared else {}
        return feedback_of(self.name, opinion, thought, usage, better)
