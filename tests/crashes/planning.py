"""When the runs are killed."""

import gc
import importlib
import random
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pydantic_ai.messages import ModelMessagesTypeAdapter

from tests.crashes.child import APPENDS, MODULES, AtAppend, AtTime, Kill, When, work
from tests.crashes.record import Record, read
from tests.crashes.scenario import Scenario
from tests.crashes.trials import Trial

AGAIN = 5
"""Of so many runs one is killed twice."""
_SAMPLES = 3
_SIDES: tuple[When, ...] = ("before", "inside", "after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Undisturbed:
    """The run of a scenario that nobody kills."""

    record: Record
    seconds: float
    """From the fork to the end."""
    appends: int


def undisturbed(folder: Path, scenario: Scenario) -> Undisturbed:
    """Do the run several times, and leave this process so that a fork begins at once."""
    work(first := _place(folder, scenario, 0), scenario)
    _warm_up(first / MODULES)
    seconds: list[float] = []
    for number in range(_SAMPLES):
        began = time.monotonic()
        work(_place(folder, scenario, number + 1), scenario)
        seconds.append(time.monotonic() - began)
    appends = int((first / APPENDS).read_text(encoding="ascii"))
    return Undisturbed(record=read(first), seconds=median(seconds), appends=appends)


def _place(folder: Path, scenario: Scenario, number: int) -> Path:
    place = folder / f"undisturbed-{scenario.name}-{number}"
    place.mkdir()
    return place


def _warm_up(modules: Path) -> None:
    """Import and build what a process needed, without doing what it did: that starts threads."""
    for module in modules.read_text(encoding="ascii").split():
        with suppress(ImportError):
            importlib.import_module(module)
    ModelMessagesTypeAdapter.rebuild()
    gc.collect()
    gc.freeze()


def trials(
    scenario: Scenario, run: Undisturbed, points: int, dice: random.Random
) -> tuple[Trial, ...]:
    """Trials for each append, and for so many points in time."""
    boundaries = [
        (AtAppend(when=when, number=number), number / run.appends)
        for number in range(1, run.appends + 1)
        for when in _SIDES
    ]
    shares = [dice.random() for _ in range(points)]
    moments = [(AtTime(seconds=share * run.seconds), share) for share in shares]
    return tuple(
        Trial(
            scenario=scenario, kills=(kill, *_second(run, 1 - share, dice)[: number % AGAIN == 0])
        )
        for number, (kill, share) in enumerate((*boundaries, *moments))
    )


def _second(run: Undisturbed, left: float, dice: random.Random) -> tuple[Kill]:
    """A kill of the process that resumes, which has a share of the run left to do."""
    append = AtAppend(when=dice.choice(_SIDES), number=dice.randint(1, 1 + int(left * run.appends)))
    return (dice.choice((append, AtTime(seconds=dice.uniform(0, left * run.seconds)))),)
