"""Research on graphs; see `sifaka.research.protocol.Researcher`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sifaka.calls.context import current_calls
from sifaka.evidence.planner import checked_question
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.inquiry import Inquiry
from sifaka.record.thought import Thought
from sifaka.research.deep import deep_graph
from sifaka.research.execution import run_graph
from sifaka.research.graph_builder import Board
from sifaka.research.history import trimmed
from sifaka.research.log import record_plan
from sifaka.research.mode import chosen_mode
from sifaka.research.progress import Plan, Progress
from sifaka.research.protocol import Desk
from sifaka.research.report import Report
from sifaka.research.resources import Work
from sifaka.research.sections import research_section
from sifaka.research.state import DeepState, Outline, SectionPlan

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

ANSWER = "Answer"
"""The heading of the only section of iterative research."""
NOBODY = "research"
"""The author of what no model has written."""


class GraphResearcher:
    """Researches a question by the iterative graph, or by the deep one.

    It keeps nothing: any number of runs may be worked on by one researcher at the same time.

    Args:
        inquiry: How to go about it.
        adapters: Where to search.
        model: Who thinks and writes; None makes an outline of the evidence for the caller.
    """

    def __init__(self, inquiry: Inquiry, adapters: Adapters, model: "Model | None") -> None:
        self.model = model
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
        progress = Progress.of(desk.run)
        work = Work(
            desk=desk,
            question=checked_question(desk.run.prompt),
            inquiry=self._inquiry,
            adapters=Adapters(self._adapters.chosen(self._inquiry.adapters)),
            model=self.model,
            calls=current_calls(),
            progress=progress,
            history=tuple(trimmed(history)),
        )
        mode = chosen_mode(self._inquiry.mode, work.question)
        if progress.plan is not None:
            mode = progress.plan.mode
        try:
            report = await (_iterative(work) if mode == "iterative" else _deep(work))
        finally:
            work.allotment.release()
        author = NOBODY if self.model is None else self.model.model_id
        return report.as_thought(desk.run, author=author, usage=work.calls.ledger.spent)


async def _iterative(work: Work) -> Report:
    plan = SectionPlan(title=ANSWER, question=work.question)
    if work.progress.plan is None:
        await record_plan(work, Plan(mode="iterative", outline=Outline(sections=(plan,))))
    if 0 not in work.progress.sections:
        work.allot([0], besides=0)
    section = await research_section(work, 0, plan)
    return Report(mode="iterative", title=_heading(work.question), sections=(section,))


async def _deep(work: Work) -> Report:
    board = Board(DeepState())
    summary: str = await run_graph(
        deep_graph(), board=board, work=work, value=work.question, parallel=work.inquiry.parallel
    )
    state = board.state
    outline = state.outline or Outline()
    return Report(
        mode="deep",
        title=outline.title or _heading(work.question),
        summary=summary,
        sections=state.sections,
        stops=state.stops,
        degraded=(*outline.degraded, *state.degraded),
    )


def _heading(question: str) -> str:
    line = " ".join(question.split())
    return line if len(line) <= 200 else f"{line[:200].rpartition(' ')[0]}…"
