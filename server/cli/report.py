"""How a run's end is printed, and which exit code it is."""

import sys

from server.schemas.runs import ImproveOut
from sifaka.chain import RunResult


def finish(result: RunResult, *, as_json: bool, show_text: bool = True) -> int:
    """Print a run's result.

    Returns:
        0 when the text passes everything and the run is done, else 1.
    """
    if as_json:
        print(ImproveOut.of(result).model_dump_json(indent=2))
    else:
        from server.view.terminal import show_run

        show_run(result, sys.stdout, show_text=show_text)
    return 0 if result.status == "done" and result.stop_reason == "passed" else 1
