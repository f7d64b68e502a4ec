"""One section from its first search to its draft; what is on record is taken from there."""

import logging
import time

from sifaka.calls.failure_log import report_failure
from sifaka.calls.journal import scope
from sifaka.calls.recovery import code_of
from sifaka.errors import SifakaError, StorageError
from sifaka.research.execution import run_graph
from sifaka.research.graph_builder import Board
from sifaka.research.iterative import iterative_graph
from sifaka.research.log import record_section, record_start
from sifaka.research.progress import place_of
from sifaka.research.resources import Loop, Work
from sifaka.research.state import LoopState, Round, Section, SectionPlan

logger = logging.getLogger(__name__)


async def research_section(
    work: Work, number: int, plan: SectionPlan, *, part_of: str = ""
) -> Section:
    """Research a section by the iterative graph and put it on record.

    Raises:
        SifakaError: It failed; nothing is on record of that.
    """
    known = work.progress.sections.get(number)
    if known is not None:
        return known
    rounds = work.progress.rounds_of(number)
    loop = Loop(
        work=work,
        number=number,
        plan=plan,
        purse=work.allotment.purses[number],
        begun=time.monotonic() - (rounds[-1].seconds if rounds else 0.0),
        part_of=part_of,
    )
    try:
        if number not in work.progress.begun:
            await record_start(loop)
        board = Board(LoopState(rounds=rounds, now=Round(number=len(rounds) + 1)))
        with scope(place_of(number)):
            section: Section = await run_graph(
                iterative_graph(), board=board, work=loop, value=plan.question
            )
        await record_section(work, section)
    finally:
        loop.purse.release()
    return section


async def research_branch(work: Work, number: int, plan: SectionPlan) -> Section:
    """Research a section beside others: one that fails is a failed section, on record as such."""
    try:
        return await research_section(work, number, plan, part_of=work.question)
    except StorageError:
        raise
    # The other sections go on whatever this one has stumbled over.
    except Exception as error:  # noqa: BLE001 - reported in the function
        section = failed_section(work, number, plan, error)
    await record_section(work, section)
    return section


def failed_section(work: Work, number: int, plan: SectionPlan, error: Exception) -> Section:
    """A section for which there is no text, and why; of a bug only its kind is told."""
    report_failure(logger, "research:section", error, run_id=work.desk.run.run_id)
    return Section(
        number=number,
        title=plan.title,
        status="failed",
        error=error.message if isinstance(error, SifakaError) else type(error).__name__,
        code=code_of(error),
        attempt=work.desk.run.failures,
    )
