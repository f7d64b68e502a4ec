"""The resources of a research, with a budget for each section, and its steps on record."""

import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from sifaka._internal.immutable import thawed
from sifaka.calls.context import Calls, current_calls
from sifaka.calls.failure_log import report_failure
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.evidence.sources.collection import Adapters
from sifaka.models import HOST
from sifaka.models.structured import Form
from sifaka.record.entries import Called, Researched
from sifaka.record.research_question import Inquiry, ResearchStep
from sifaka.record.run import Run
from sifaka.record.usage import Budget, Usage
from sifaka.research.agents import PlannedSection, ResearchAgent, consult
from sifaka.research.protocol import Desk
from sifaka.research.state import (
    Outline,
    ParsedQuery,
    ReportSection,
    ResearchPlan,
    Round,
)

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

logger = logging.getLogger(__name__)
Output = TypeVar("Output", bound=Form)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchSteps:
    """The steps on record, put together; sections go by their numbers."""

    plan: ResearchPlan | None = None
    begun: frozenset[int] = frozenset()
    """The sections whose research has begun."""
    rounds: Mapping[int, tuple[Round, ...]] = field(default_factory=dict[int, tuple[Round, ...]])
    """The iterations of each section that have come to their end."""
    sections: Mapping[int, ReportSection] = field(default_factory=dict[int, ReportSection])
    """The sections that have come to their end."""

    @classmethod
    def of(cls, run: Run) -> "ResearchSteps":
        """Put the steps of a run together.

        A section that failed counts as long as the run has not failed since: then it is tried
        again, from its last iteration on.
        """
        plan: ResearchPlan | None = None
        begun = frozenset(
            entry.section
            for entry in run.research
            if entry.step == "section_started" and entry.section is not None
        )
        rounds: dict[int, tuple[Round, ...]] = {}
        sections: dict[int, ReportSection] = {}
        for entry in run.research:
            number = -1 if entry.section is None else entry.section
            match entry.step:
                case "started":
                    plan = ResearchPlan.model_validate(thawed(entry.state))
                case "looping":
                    ended = rounds.get(number, ())
                    rounds[number] = (*ended, Round.model_validate(thawed(entry.state)))
                case "section_finished":
                    section = ReportSection.model_validate(thawed(entry.state))
                    if section.status == "done" or section.attempt == run.failures:
                        sections[number] = section
                case _:
                    pass
        return cls(plan=plan, begun=begun, rounds=rounds, sections=sections)


async def record_section(desk: Desk, section: ReportSection) -> None:
    """Put the end of a section on record."""
    how = f"failed: {section.error}" if section.error else f"{len(section.findings)} references"
    await desk.record(
        Researched(
            step="section_finished",
            section=section.number,
            title=section.title,
            iteration=section.iterations,
            message=f"{section.title!r}: {how}",
            state=section.model_dump(mode="json"),
        )
    )


def spent_by(number: int, calls: Sequence[Called], rounds: Sequence[Round]) -> Usage:
    """The usage of a section so far, by the answers on record."""
    from sifaka.models.journaled import RESPONSE
    from sifaka.models.metered import usage_of

    here = re.escape(current_calls().journal.place().partition("~")[0])
    within = re.compile(rf"{here}(?:~\d+)?/section {number}/")
    # What adapters answer is on record in the same way, and has no parts.
    own = (c for c in calls if within.match(c.key) and c.response.startswith('{"parts":'))
    spent = Usage(seconds=rounds[-1].seconds if rounds else 0.0)
    return sum((usage_of(RESPONSE.validate_json(call.response)) for call in own), spent)


_WRITING = 0.25
"""The part of a section's tokens and money that its loop leaves to the writer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionBudget:
    """The budget of one section."""

    looping: Calls
    """The surroundings of its loop."""
    writing: Calls
    """Those of its writer."""


def share_out(
    calls: Calls, budget: Budget | None, spent: Sequence[Usage], *, besides: int
) -> tuple[SectionBudget, ...]:
    """A budget for each of several sections that are worked on at the same time.

    Each has a call for its writer, which no loop and no other section can take; calls `besides` are
    left for what follows. The rest is shared out evenly. Of tokens and money a part of each share
    is kept for its writer, and as much for each call `besides`.

    Args:
        calls: The surroundings of the run.
        budget: The own budget of each section.
        spent: The usage of each section before a resume.
        besides: Calls that follow the sections.
    """
    whole, sections = calls.ledger, max(1, len(spent))
    share = whole.calls_left
    if share != math.inf:
        share = max(0, share - sections - besides) // sections
    parts = sections + besides * _WRITING
    tokens, cost = whole.tokens_left / parts, whole.cost_left / parts
    budgets: list[SectionBudget] = []
    for before in spent:
        section = whole.part(_limits(calls=share + 1))
        if budget is not None:
            section = section.part(budget, before)
        loop = _limits(
            calls=section.calls_left - 1,
            tokens=min(tokens, section.tokens_left) * (1 - _WRITING),
            cost=min(cost, section.cost_left) * (1 - _WRITING),
        )
        looping = replace(calls, ledger=section.part(loop))
        budgets.append(SectionBudget(looping=looping, writing=replace(calls, ledger=section)))
    return tuple(budgets)


def leaving_one(calls: Calls) -> Calls:
    """The surroundings in which every call that is left may be made but one."""
    whole = calls.ledger
    return replace(calls, ledger=whole.part(_limits(calls=whole.calls_left - 1)))


def _limits(*, calls: float = math.inf, tokens: float = math.inf, cost: float = math.inf) -> Budget:
    """A budget of so much, without a limit where that is infinite."""
    return Budget(
        max_calls=None if calls == math.inf else max(0, int(calls)),
        max_tokens=None if tokens == math.inf else max(0, int(tokens)),
        max_cost_usd=None if cost == math.inf else cost,
    )


def is_host(model: "Model") -> bool:
    """True for the model of the host that has called."""
    return model.model_id.partition(":")[0] == HOST


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The resources of one research."""

    desk: Desk
    question: str
    inquiry: Inquiry
    adapters: Adapters
    """The adapters that may be searched."""
    model: "Model | None"
    calls: Calls
    progress: ResearchSteps
    """The steps on record when the work began."""
    judge: "Model | None" = None
    """The model that decides whether a loop goes on; None for the one that thinks."""
    parsed: ParsedQuery | None = None
    """The question as it was read; None until it is."""
    history: "Sequence[ModelMessage]" = ()
    """The user's conversation; the observations of the research itself are in its state."""
    budgets: dict[int, SectionBudget] = field(default_factory=dict[int, SectionBudget])
    """By the numbers of the sections that are still to be researched."""

    @property
    def advisers(self) -> bool:
        """True when agents may be asked that a report can do without.

        A host's model is asked in rounds, of which clients make ten for one call.
        """
        return self.model is not None and not is_host(self.model)

    async def advice(
        self, agent: ResearchAgent[Output], prompt: str
    ) -> Output | BudgetExceeded | ModelProviderError:
        """The answer of an agent that a report can do without, or the error in its place."""
        assert self.model is not None, "without a model nobody is asked"
        try:
            return await consult(agent, self.model, prompt, history=self.history)
        except BudgetExceeded as error:
            return error
        except ModelProviderError as error:
            report_failure(logger, f"research:{agent.name}", error, run_id=self.desk.run.run_id)
            return error

    def allot(self, numbers: Sequence[int], *, besides: int) -> None:
        """Share the budget out, with the calls that are surely needed, before these begin."""
        recorded, rounds = self.desk.run.calls, self.progress.rounds
        spent = [spent_by(number, recorded, rounds.get(number, ())) for number in numbers]
        budgets = share_out(self.calls, self.inquiry.section_budget, spent, besides=besides)
        self.budgets.update(zip(numbers, budgets, strict=True))


async def record_plan(work: Work, outline: Outline) -> None:
    """Put the mode, the reading of the question and the outline on record."""
    assert work.parsed is not None, "it is read before it is planned"
    plan = ResearchPlan(mode=work.parsed.mode, outline=outline, parsed=work.parsed)
    titles = ", ".join(section.title for section in outline.sections)
    await work.desk.record(
        Researched(
            step="started",
            title=outline.title,
            message=f"{plan.mode} research: {titles}",
            state=plan.model_dump(mode="json"),
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """The resources of the loop of one section."""

    work: Work
    number: int
    plan: PlannedSection
    budget: SectionBudget
    begun: float
    """Its start by `time.monotonic`, put back by the seconds that it took before a resume."""
    part_of: str = ""
    """The question of the whole report; empty when the section is the whole."""

    async def tell(self, step: ResearchStep, message: str) -> None:
        """Emit an event about the work on this section."""
        await self.work.desk.tell(step, message, section=self.number)
