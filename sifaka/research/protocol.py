"""The interfaces of a researcher and of the run it works on."""

from typing import Protocol

from sifaka.record.entries import Researched
from sifaka.record.research_question import ResearchStep
from sifaka.record.run import Run
from sifaka.record.thought import Thought


class Desk(Protocol):
    """A run of research, as its researcher sees it."""

    @property
    def run(self) -> Run:
        """The run as it is now; `run.research` holds the steps that are done already."""
        ...

    async def record(self, entry: Researched) -> None:
        """Make a step durable and emit it as an event.

        Raises:
            StorageError: The step could not be put on record, or another worker has the run.
        """
        ...

    async def tell(self, step: ResearchStep, message: str, *, section: int | None = None) -> None:
        """Emit an event about the work; nothing is stored.

        Raises:
            ValueError: The step ends a run: the run emits that itself.
        """
        ...


class Researcher(Protocol):
    """Researches a question."""

    async def research(self, desk: Desk) -> Thought:
        """The report, as the first version of the run, with the evidence as its documents.

        `metadata["research"]` says how it went: `mode`, `partial`, `sections` with the title,
        status and error of each, `references`, `stop_reasons`; `metadata["degraded"]` says in
        lines what did not work.

        Every answer is asked for through `sifaka.calls.context`, so a resume asks for none
        of them again.
        A spent budget is no error: the report is written from what there is.

        Raises:
            SifakaError: Nothing came of it: every section failed, or no source could be searched.
            Suspended: Answers of the host are needed.
        """
        ...
