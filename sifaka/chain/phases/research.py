"""The phase before the first version, where that is researched."""

from collections.abc import Sequence

from sifaka.calls.journal import scope
from sifaka.chain.events import doing
from sifaka.chain.phases.context import PhaseContext
from sifaka.chain.recorder import Recorder
from sifaka.chain.recovery import place
from sifaka.errors import ModelProviderError
from sifaka.record.entries import Drafted, Entry, Researched
from sifaka.record.research_question import TERMINAL, ResearchStep
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.research.protocol import Researcher
from sifaka.text.input import check_text

PLACE = "research"
"""The journal's place for the calls of research."""
_UNAIDED = "unaided"


async def research(context: PhaseContext, researcher: Researcher) -> Sequence[Entry]:
    """Have the first version researched; its steps are put on record as they are made.

    Raises:
        SifakaError: Nothing came of it.
        Suspended: Answers of the host are needed.
    """
    desk, where = _Desk(context.recorder), place(context.recorder.run, PLACE)
    with context.calls.monitor.measure("phase", "research"), scope(where):
        report = await _report(researcher, context.parts.fallback_researcher, desk)
        return (Drafted(thought=_first(context.recorder.run, report)),)


async def _report(researcher: Researcher, fallback: Researcher | None, desk: "_Desk") -> Thought:
    try:
        return await researcher.research(desk)
    except ModelProviderError as error:
        if fallback is None:
            raise
        line = f"researched without a model, as that has failed: {error.message}"
    await desk.tell("thinking", line)
    with scope(_UNAIDED):
        return (await fallback.research(desk.unaided())).add_degraded((line,))


def _first(run: Run, report: Thought) -> Thought:
    """The report as the first version of the run, whatever its author."""
    check_text(report.text, "the report")
    opening = Thought(prompt=run.prompt, run_id=run.run_id)
    return report.model_copy(
        update={
            "prompt": run.prompt,
            "run_id": run.run_id,
            "id": opening.id,
            "iteration": 0,
            "candidate": 0,
            "parent_id": None,
            "history": (),
        }
    )


class _Desk:
    """See `sifaka.research.protocol.Desk`."""

    def __init__(self, recorder: Recorder, *, failures: int = 0) -> None:
        self._recorder = recorder
        self._failures = failures

    @property
    def run(self) -> Run:
        run = self._recorder.run
        return run.model_copy(update={"failures": run.failures + self._failures})

    def unaided(self) -> "_Desk":
        """The same desk for research without a model: what has failed by then is tried again."""
        return _Desk(self._recorder, failures=self._failures + 1)

    async def record(self, entry: Researched) -> None:
        _check(entry.step)
        await self._recorder.store(entry)

    async def tell(self, step: ResearchStep, message: str, *, section: int | None = None) -> None:
        _check(step)
        if self._recorder.emit is not None:
            event = doing(self.run, "research", message)
            update = {"research": step, "section": section}
            await self._recorder.emit(event.model_copy(update=update))


def _check(step: ResearchStep) -> None:
    if step in TERMINAL:
        raise ValueError(f"how the run ends is not for the researcher to say: {step!r}")
