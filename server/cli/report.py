"""How a run's end is printed, and which exit code it is."""

from server.cli.output import print_json, printing
from server.schemas.runs import ImproveOut
from sifaka.chain import RunResult


def finish(result: RunResult, *, as_json: bool, show_text: bool = True) -> int:
    """Print a run's result.

    Returns:
        0 when the run is done and its text passes, whatever ended it, else 1.

    Raises:
        ConfigurationError: Standard output cannot be written.
    """
    if as_json:
        print_json(ImproveOut.of(result))
    else:
        from server.view.terminal import show_run

        with printing() as stream:
            show_run(result, stream, show_text=show_text)
    return 0 if result.status == "done" and result.passed else 1
