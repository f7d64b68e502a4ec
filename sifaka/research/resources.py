"""The resources of one research and of each of its loops."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sifaka.calls.context import Calls
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.inquiry import Inquiry, ResearchStep
from sifaka.research.limits import KeptCall, Purse, shared_out
from sifaka.research.progress import ResearchSteps, spent_by
from sifaka.research.protocol import Desk
from sifaka.research.state import SectionPlan

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model


@dataclass(slots=True)
class Allotment:
    """The calls that are set aside for the sections and for the summary."""

    purses: dict[int, Purse] = field(default_factory=dict[int, Purse])
    """By the numbers of the sections that are still to be researched."""
    summary: Sequence[KeptCall] = ()

    def release(self) -> None:
        """Give back every call that was not used."""
        for call in (*(purse.kept for purse in self.purses.values()), *self.summary):
            call.release()


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
    history: "Sequence[ModelMessage]" = ()
    """The user's conversation; the observations of the research itself are in its state."""
    allotment: Allotment = field(default_factory=Allotment)

    def allot(self, numbers: Sequence[int], *, besides: int) -> None:
        """Set aside the calls that are surely needed, before any of these sections begins."""
        recorded, rounds = self.desk.run.calls, self.progress.rounds_of
        budget = self.inquiry.section_budget
        spent = [spent_by(number, recorded, rounds(number)) for number in numbers]
        purses, self.allotment.summary = shared_out(self.calls, budget, spent, besides=besides)
        self.allotment.purses.update(zip(numbers, purses, strict=True))

    @contextmanager
    def to_synthesize(self) -> Generator[None]:
        """Within this context the call that was kept for the summary may be made."""
        with ExitStack() as stack:
            for call in self.allotment.summary:
                stack.enter_context(call.within())
            yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """The resources of the loop of one section."""

    work: Work
    number: int
    plan: SectionPlan
    purse: Purse
    begun: float
    """Its start by `time.monotonic`, put back by the seconds that it took before a resume."""
    part_of: str = ""
    """The question of the whole report; empty when the section is the whole."""

    async def tell(self, step: ResearchStep, message: str) -> None:
        """Emit an event about the work on this section."""
        await self.work.desk.tell(step, message, section=self.number)
