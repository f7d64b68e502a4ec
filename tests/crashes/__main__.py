"""`python -m tests.crashes [--points 200] [--seed N] [--jobs 2]`: kill runs, resume them, compare.

A run of six iterations with three critics, stored in a SQLite file, is worked on by a real process
that is really killed (SIGKILL): right before each append, inside its transaction and right after it
became durable, and at points of time drawn uniformly over the duration of an undisturbed run. Of
every fifth run the process that resumes it is killed as well. A second, smaller run with judges is
killed at its appends only. Then a last process resumes the run, and these must hold:

- texts, opinions, decisions and the end are byte for byte those of the undisturbed run;
- every entry that was durable is there, unchanged, and the file is sound;
- no question is asked whose answer was on record when the process before was killed;
- the run's account holds each recorded call once.

The scripted provider answers by the question alone and notes each question in a file, synced,
before it answers. A kill between an answer and its append makes that call be asked again, which
nothing can avoid; how often that happened is printed. Files are in memory (`/dev/shm`) where there
is such a folder: a kill takes nothing from the page cache, and syncing would only cost time.

Prints a line for each problem and one line of figures; exits with 1 if there was a problem.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.crashes.jobs import attempt_all
from tests.crashes.planning import trials, undisturbed
from tests.crashes.scenario import JUDGED, REFINING
from tests.crashes.trials import tally

_MEMORY = Path("/dev/shm")  # noqa: S108 - the folder made in it has a name that nobody can guess


def main() -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.crashes")
    parser.add_argument("--points", type=int, default=200, help="random points in time")
    parser.add_argument("--seed", type=int, help="of the points; drawn when left out")
    parser.add_argument("--jobs", type=int, default=2, help="runs at the same time")
    options = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    dice = random.Random(seed)  # noqa: S311 - not a secret
    began = time.monotonic()
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as name:
        folder = Path(name)
        refining, judged = (undisturbed(folder, scenario) for scenario in (REFINING, JUDGED))
        planned = (
            *trials(REFINING, refining, options.points, dice),
            *trials(JUDGED, judged, 0, dice),
        )
        expected = {REFINING.name: refining.record, JUDGED.name: judged.record}
        findings = attempt_all(planned, folder, expected, options.jobs)
    for trial, finding in zip(planned, findings, strict=True):
        if finding.problem:
            kills = ", then ".join(str(kill) for kill in trial.kills)
            sys.stdout.write(f"{trial.scenario.name}, {kills}: {finding.problem}\n")
    counted = tally(findings)
    sys.stdout.write(
        f"{counted['trials']} trials, {counted['problems']} problems; {counted['killed']} kills "
        f"({counted['unbegun']} runs not yet on record, {counted['faster']} processes faster), "
        f"{counted['twice']} runs killed twice; {counted['kept']} recorded answers not asked for "
        f"again, {counted['lost']} not yet recorded asked again in {counted['hit']} runs; "
        f"undisturbed {refining.seconds * 1000:.0f} ms; seed {seed}; "
        f"{time.monotonic() - began:.0f} s\n"
    )
    return 1 if counted["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
