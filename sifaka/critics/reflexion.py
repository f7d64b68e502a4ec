"""Reflexion: after a failure, a lesson in words for the next attempt."""

from typing import Literal

from pydantic import Field

from sifaka.calls.journal import scope
from sifaka.critics.judge import JudgingCritic
from sifaka.critics.opinion import case, on_record
from sifaka.models.coercion import Form
from sifaka.models.framing import frame
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.validators.spec import Name

MEMORY = 3
"""Lessons that are remembered; with more of them the context only grows."""
_LONGEST_LESSON = 1_000
"""Characters."""

_EVALUATE = (
    "Evaluate whether the text succeeds at its task: would whoever set the task be content with "
    "it? It need not be perfect. When it fails, report each place or lack that makes it fail."
)
_REFLECT = (
    "The text was an attempt at its task that failed; the question says how. Reflect on why the "
    "attempt went wrong, and state in two or three sentences, addressed to the writer, what to do "
    "otherwise the next time. It is a lesson for a new attempt, not a list of corrections. Do not "
    "repeat the earlier lessons: they have not been enough."
)


class _Reflection(Form):
    """Your reflection on the failed attempt."""

    reflection: str = Field(min_length=1, description="the lesson for the next attempt")


class ReflexionCritic(JudgingCritic):
    """Evaluates the attempt first and reflects only on a failure, into a lesson for the next one.

    Reflexion (Shinn et al. 2023, arXiv 2303.11366). Validators that have looked at the text are the
    evaluator: no model call when all required ones pass, one for the reflection otherwise. Without
    any, one call evaluates, and after a failure a second one reflects, depth two. The lesson is in
    `reflection`, apart from issues and suggestions; the last `MEMORY` earlier ones are shown.
    """

    type: Literal["reflexion"] = "reflexion"
    name: Name = "reflexion"

    def calls(self, text: str = "") -> int:
        """None when validators have looked at the text and it passes them."""
        return 0

    async def critique(self, thought: Thought) -> CriticFeedback:
        """Accept, or a lesson; see `Critic`."""
        if thought.validation_results:
            if thought.passed:
                return CriticFeedback(
                    critic=self.name, verdict="accept", details={"evaluator": "validators"}
                )
            evaluation = CriticFeedback(
                critic=self.name, verdict="revise", details={"evaluator": "validators"}
            )
            failures = _failed_validators(thought)
        else:
            with scope("evaluate"):
                evaluation, _ = await self._opinion(_EVALUATE, thought)
            evaluation = on_record(evaluation, {"evaluator": "model"})
            if evaluation.verdict == "accept":
                return evaluation
            failures = _found_faults(evaluation)
        with scope("reflect"):
            reflection, usage = await self._reflect(thought, failures)
        return evaluation.model_copy(
            update={"reflection": reflection, "usage": evaluation.usage + usage}
        )

    async def _reflect(self, thought: Thought, failures: str) -> tuple[str, Usage]:
        lessons = [frame("lesson", lesson) for lesson in thought.lessons[-MEMORY:]]
        question = "\n\n".join((*lessons, frame("failures", failures), case(thought)))
        answer, usage = await self._ask(_REFLECT, question, _Reflection)
        return answer.reflection.strip()[:_LONGEST_LESSON], usage


def _failed_validators(thought: Thought) -> str:
    failed = [r for r in thought.validation_results.values() if r.required and not r.passed]
    return "\n".join(f"- {result.validator}: {result.message}" for result in failed)


def _found_faults(evaluation: CriticFeedback) -> str:
    faults = [*(issue.message for issue in evaluation.issues), *evaluation.suggestions]
    return "\n".join(f"- {fault}" for fault in faults) or "- it does not succeed at its task"
