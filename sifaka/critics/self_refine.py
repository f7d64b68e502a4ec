"""Self-Refine: feedback by aspect, each scored."""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from sifaka.critics.judge import KEEPS_FACTS, REPORTS, REVIEWER, JudgingCritic
from sifaka.critics.opinion import Opinion, feedback_of
from sifaka.models.prompt import Prompt, frame, original_of
from sifaka.models.section import SECTION
from sifaka.models.task_changes import WHICH_KINDS, TaskChanges
from sifaka.record.results import PREFERRED, TASK_CHANGES, CriticFeedback, Preferred
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
    ),
)
COMPARING = replace(
    PROMPT,
    purpose="The same with a comparison of the text with its original.",
    rules=(
        *PROMPT.rules,
        "Last compare the text with `original`, whatever your verdict is: which one serves the "
        "task and the readers better? Their length says nothing. Put `original`, `text` or "
        "`neither` into `better`.",
    ),
)
READING_TASK = replace(
    PROMPT,
    purpose="The same with the facts that the task asks to change.",
    rules=(
        *PROMPT.rules,
        "A writer will revise the text for the task. Put the kinds of facts that the task asks to "
        f"change, to leave out, or to add into `task_changes`. {WHICH_KINDS}",
    ),
)


class _Comparing(Opinion, title="Opinion"):
    __doc__ = Opinion.__doc__

    better: Preferred | None = Field(default=None, description="the better one of the two")


class _ReadingTask(Opinion, title="Opinion"):
    __doc__ = Opinion.__doc__

    task_changes: TaskChanges | None = None


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

    joint: bool = False
    """Asks in the same answer what would else be questions of their own: which is better, a version
    or its original, and which facts a task asks to change."""

    async def critique(self, thought: Thought) -> CriticFeedback:
        """One opinion, with a score for each aspect; see `Critic`."""
        listed = "\n".join(f"- {aspect}" for aspect in self.aspects)
        aspects = frame("aspects", listed, lasting=True)
        if not self.joint or SECTION in thought.metadata:
            feedback, _ = await self._opinion(PROMPT, thought, aspects)
            return feedback
        question, details = self._question(thought, aspects), dict[str, object]()
        if original_of(thought) and thought.author != EDITOR:
            opinion, usage = await self._ask(COMPARING, question, _Comparing)
            if opinion.better is not None:
                details[PREFERRED] = opinion.better
        elif thought.prompt:
            opinion, usage = await self._ask(READING_TASK, question, _ReadingTask)
            # What is left out of an answer is none: the task is not asked about twice.
            changes = opinion.task_changes or TaskChanges()
            details[TASK_CHANGES] = changes.model_dump(mode="json")
        else:
            opinion, usage = await self._ask(PROMPT, question, Opinion)
        return feedback_of(self.name, opinion, thought, usage, details)
