"""Research on graphs; see `sifaka.research.protocol.Researcher`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sifaka.calls.context import current_calls
from sifaka.evidence.pipeline import checked_question
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.research_question import Inquiry
from sifaka.record.thought import Thought
from sifaka.research.agents.agent import conversation, trimmed
from sifaka.research.parsing import parsed
from sifaka.research.progress import ResearchSteps, Work, record_plan
from sifaka.research.protocol import Desk
from sifaka.research.report import ANSWER, Report, heading
from sifaka.research.state import Outline, SectionPlan

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

AUTHOR = "research"
"""The author of a report that no model has written."""


class GraphResearcher:
    """Researches a question by the iterative graph, or by the deep one.

    It keeps nothing: any number of runs may be worked on by one researcher at the same time.

    Args:
        inquiry: The kind of research and its limits.
        adapters: The adapters to search with.
        model: The model that thinks and writes; None makes an outline of the evidence for the
            caller.
        judge: The model that decides whether a loop goes on; None for the one that thinks.
    """

    def __init__(
        self,
        inquiry: Inquiry,
        adapters: Adapters,
        model: "Model | None",
        *,
        judge: "Model | None" = None,
    ) -> None:
        self.model = model
        self._judge = judge
        self._inquiry = inquiry
        self._adapters = adapters

    async def research(self, desk: Desk, *, history: "Sequence[ModelMessage]" = ()) -> Thought:
        """The report, as the first version of the run; see `Researcher`.

        Args:
            desk: The run.
            history: The user's conversation before the question, for every agent. What the
                research itself has thought and done is told to its agents apart from it.

        Raises:
            ConfigurationError: The question is empty, there is no adapter, or none of a name.
            SifakaError: Nothing came of it.
            StorageError: A step could not be put on record.
            Suspended: Answers of the host are needed.
        """
        from sifaka.research.deep import research_report

        progress = ResearchSteps.of(desk.run)
        work = Work(
            desk=desk,
            question=checked_question(desk.run.prompt),
            inquiry=self._inquiry,
            adapters=Adapters(self._adapters.chosen(self._inquiry.adapters)),
            model=self.model,
            calls=current_calls(),
            progress=progress,
            judge=self._judge,
            history=(*conversation(self._inquiry.history), *trimmed(history)),
        )
        read = await parsed(work) if progress.plan is None else progress.plan.parsed
        work = replace(work, question=read.question, parsed=read)
        report = await (_iterative(work) if read.mode == "iterative" else research_report(work))
        author = AUTHOR if self.model is None else self.model.model_id
        thought = report.as_thought(desk.run, author=author, usage=work.calls.ledger.spent)
        return thought.add_degraded(read.degraded)


async def _iterative(work: Work) -> Report:
    from sifaka.research.iterative import research_section

    plan = SectionPlan(title=ANSWER, question=work.question)
    if work.progress.plan is None:
        outline = Outline(sections=(plan,))
        await record_plan(work, outline)
    if 0 not in work.progress.sections:
        work.allot([0], besides=0)
    section = await research_section(work, 0, plan)
    return Report(mode="iterative", title=heading(work.question), sections=(section,))
