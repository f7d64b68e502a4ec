"""What one research is worked on with."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sifaka.calls.context import Calls
from sifaka.evidence.sources.collection import Adapters
from sifaka.record.inquiry import Inquiry, ResearchStep
from sifaka.research.limits import KeptCall, Purse, shared_out
from sifaka.research.progress import Progress, spent_by
from sifaka.research.protocol import Desk
from sifaka.research.state import SectionPlan

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model


@dataclass(slots=True)
class Allotment:
    """What was set aside for the sections and for who puts them together, until it is used."""

    purses: dict[int, Purse] = field(default_factory=dict[int, Purse])
    """By the numbers of the sections that are still to be researched."""
    whole: KeptCall | None = None

    def release(self) -> None:
        """Give back what was not used."""
        for purse in self.purses.values():
            purse.release()
        if self.whole is not None:
            self.whole.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one research is worked on with; each has its own."""

    desk: Desk
    question: str
    inquiry: Inquiry
    adapters: Adapters
    """Those that may be searched."""
    model: "Model | None"
    calls: Calls
    progress: Progress
    """What was on record when the work began."""
    history: "Sequence[ModelMessage]" = ()
    """The user's conversation; what the research itself has thought is in its state."""
    allotment: Allotment = field(default_factory=Allotment)

    def allot(self, numbers: Sequence[int], *, besides: int) -> None:
        """Set aside what is surely needed, before any of these sections begins."""
        recorded, rounds = self.desk.run.calls, self.progress.rounds_of
        budget = self.inquiry.section_budget
        spent = [spent_by(number, recorded, rounds(number)) for number in numbers]
        purses, self.allotment.whole = shared_out(self.calls, budget, spent, besides=besides)
        self.allotment.purses.update(zip(numbers, purses, strict=True))

    @contextmanager
    def to_synthesize(self) -> Generator[None]:
        """Within this context the call that was kept for the whole is there."""
        with ExitStack() as stack:
            if self.allotment.whole is not None:
                stack.enter_context(self.allotment.whole.there())
            yield


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """What the loop of one section is worked on with."""

    work: Work
    number: int
    plan: SectionPlan
    purse: Purse
    begun: float
    """When it would have begun, had it never been interrupted, by the clock of `time.monotonic`."""
    part_of: str = ""
    """The question of the whole report; empty when the section is the whole."""

    async def tell(self, step: ResearchStep, message: str) -> None:
        """Tell whoever listens what is being done for this section."""
        await self.work.desk.tell(step, message, section=self.number)
