"""Reflexion: after a failure, a lesson in words for the next attempt."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from sifaka.calls.context import current_calls, scope
from sifaka.critics.judge import KEEPS_FACTS, REPORTS, REVIEWER, JudgingCritic
from sifaka.critics.opinion import case, on_record
from sifaka.models.prompt import LAST, Prompt, frame
from sifaka.models.structured import Form
from sifaka.record.results import CriticFeedback, Verdict
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.validators.spec import Name

MEMORY = 3
"""Lessons that are remembered; with more of them the context only grows."""
_LONGEST_LESSON = 1_000
"""Characters."""

EVALUATE = Prompt(
    purpose="Decides if an attempt succeeds at its task, where no validator does.",
    task=f"{REVIEWER} Decide if it succeeds at its task.",
    rules=(
        "It succeeds when the person who set the task would accept it, or without a task when its "
        "readers would. It need not be perfect.",
        "If it fails, report everything that makes it fail, and nothing else.",
        KEEPS_FACTS,
        *REPORTS,
    ),
)
REFLECT = Prompt(
    purpose="Turns a failed attempt into a lesson that the writer gets with the next one.",
    task="You advise a writer whose attempt at a task has failed. `text` is the attempt, and "
    "`failures` says how it failed.",
    rules=(
        "First find the reason why the attempt failed.",
        "Then write the lesson: two or three sentences to the writer, with a plan by which a new "
        "attempt avoids this failure. Do not list corrections.",
        "If `lessons` is shown, the writer had those, and they were not enough: write another one.",
    ),
)
_ASKED = "Write the lesson for the next attempt."


class _Reflection(Form):
    """Your reflection on the failed attempt."""

    reflection: str = Field(min_length=1, description="the lesson for the next attempt")


class ReflexionCritic(JudgingCritic):
    """Evaluates the attempt first and reflects only on a failure, into a lesson for the next one.

    Reflexion (Shinn et al. 2023, arXiv 2303.11366). Validators that have looked at the text are the
    evaluator: no model call when all required ones pass, one for the reflection otherwise. Without
    any, one call evaluates, and after a failure a second one reflects, depth two. Where no version
    can follow, nothing is reflected upon. The lesson is in `reflection`, apart from issues and
    suggestions; the last `MEMORY` earlier ones are shown.
    """

    type: Literal["reflexion"] = "reflexion"
    name: Name = "reflexion"

    def calls(self, text: str = "") -> int:
        """None when validators have looked at the text and it passes them."""
        return 0

    async def critique(self, thought: Thought) -> CriticFeedback:
        """Accept, or a lesson; see `Critic`."""
        if thought.validation_results:
            verdict: Verdict = "accept" if thought.passed else "revise"
            evaluation = CriticFeedback(
                critic=self.name, verdict=verdict, details={"evaluator": "validators"}
            )
            results = thought.validation_results.values()
            failures = [
                f"{r.validator}: {r.message}" for r in results if r.required and not r.passed
            ]
        else:
            with scope("evaluate"):
                evaluation, _ = await self._opinion(EVALUATE, thought)
            evaluation = on_record(evaluation, {**evaluation.details, "evaluator": "model"})
            failures = [*(issue.message for issue in evaluation.issues), *evaluation.suggestions]
        # A lesson is for the next version: there is none without a call for it after this one.
        is_last = thought.metadata.get(LAST) or not current_calls().ledger.has_spare_call
        if evaluation.verdict == "accept" or is_last:
            return evaluation
        with scope("reflect"):
            reflection, usage = await self._reflect(
                thought, failures or ["it does not succeed at its task"]
            )
        return evaluation.model_copy(
            update={"reflection": reflection, "usage": evaluation.usage + usage}
        )

    async def _reflect(self, thought: Thought, failures: Sequence[str]) -> tuple[str, Usage]:
        parts = {"lessons": thought.lessons[-MEMORY:], "failures": failures}
        listed = {name: "\n".join(f"- {each}" for each in lines) for name, lines in parts.items()}
        frames = (frame(name, lines) for name, lines in listed.items() if lines)
        question = "\n\n".join((case(thought), *frames, _ASKED))
        answer, usage = await self._ask(REFLECT, question, _Reflection)
        return answer.reflection.strip()[:_LONGEST_LESSON], usage
