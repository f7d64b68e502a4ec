"""`python -m tests.long_run [SECONDS] [--wait 5] [--silence 15]`: runs that take long.

Two real servers over a real Redis, and a provider that takes its time. A run of so many seconds is
answered with `running` after `--wait` seconds; then it is followed to its end by the other server,
its worker is killed (SIGKILL), or it is cancelled by the other server. Then many short runs in one
queue: three servers and two workers of which two are killed, and one worker against two. Prints
what happened and when; exits with 1 if something is not as it should be.
"""

import argparse
import logging
import sys

import anyio

from tests.long_run.fleet import FLEETS
from tests.long_run.scenes import SCENES, Log, scene


def main() -> int:
    """Do what the command line says; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.long_run")
    # Six calls: the first is under way when the run is answered, and when it is cancelled.
    parser.add_argument("seconds", type=float, nargs="?", default=36, help="that a run takes")
    parser.add_argument("--wait", type=float, default=5, help="seconds until it is answered")
    parser.add_argument("--silence", type=float, default=15, help="after which a worker is dead")
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # of the stub, at each kill
    return anyio.run(_all, parser.parse_args())


async def _all(options: argparse.Namespace) -> int:
    problems = 0
    for name, act in SCENES.items():
        sys.stdout.write(f"{name}: {(act.__doc__ or '').strip()}\n")
        async with scene(
            seconds=options.seconds, wait=options.wait, silence=options.silence
        ) as prepared:
            await act(prepared)
            problems += prepared.problems
    for name, act in FLEETS.items():
        sys.stdout.write(f"{name}: {(act.__doc__ or '').strip()}\n")
        log = Log()
        await act(log)
        problems += log.problems
    sys.stdout.write(f"{problems} problems\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
