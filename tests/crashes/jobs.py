"""Several trials at the same time, in processes of their own."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from tests.crashes.record import Record
from tests.crashes.trials import Finding, Trial, attempt

_Line: TypeAdapter[tuple[int, Finding]] = TypeAdapter(tuple[int, Finding])


def attempt_all(
    trials: Sequence[Trial], folder: Path, undisturbed: Mapping[str, Record], jobs: int
) -> list[Finding]:
    """The findings, in the order of the trials.

    Args:
        trials: What to do.
        folder: Where the runs and the findings go.
        undisturbed: The record to compare with, by the scenario's name.
        jobs: Processes that work on the trials, each on its share, one trial after the other.
    """
    workers: dict[int, Path] = {}
    for job in range(jobs):
        results = folder / f"findings-{job}"
        pid = os.fork()
        if pid == 0:
            try:
                with results.open("wb") as file:
                    for number in range(job, len(trials), jobs):
                        trial = trials[number]
                        place = folder / f"{trial.scenario.name}-{number}"
                        finding = attempt(trial, place, undisturbed[trial.scenario.name])
                        file.write(_Line.dump_json((number, finding)) + b"\n")
            finally:
                os._exit(0)  # what is missing is noticed
        workers[pid] = results
    found: dict[int, Finding] = {}
    for pid, results in workers.items():
        os.waitpid(pid, 0)
        found |= dict(map(_Line.validate_json, results.read_bytes().splitlines()))
    missing = Finding(problem="the process that was to try it broke off")
    return [found.get(number, missing) for number in range(len(trials))]
