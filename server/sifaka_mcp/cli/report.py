"""How a run's end is printed, and which exit code it is."""

from sifaka.chain import RunResult
from sifaka_mcp.cli.output import print_json, printing
from sifaka_mcp.schemas.research import out_of


def finish(result: RunResult, *, as_json: bool, show_text: bool = True) -> int:
    """Print a run's result.

    Returns:
        0 when the run is done and its text passes, whatever ended it, else 1.

    Raises:
        ConfigurationError: Standard output cannot be written.
    """
    if as_json:
        print_json(out_of(result))
    else:
        from sifaka_mcp.view.research_terminal import show_research
        from sifaka_mcp.view.terminal import show_run

        show = show_run if result.run.config.inquiry is None else show_research
        with printing() as stream:
            show(result, stream, show_text=show_text)
    return 0 if result.status == "done" and result.passed else 1
