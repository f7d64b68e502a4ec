"""Work on runs that outlives its request, and what happens when its process does not."""

from sifaka_mcp.runs.service import FileLeases, Result, RunKey, Runs, Ticket, Work

__all__ = [
    "FileLeases",
    "Result",
    "RunKey",
    "Runs",
    "Ticket",
    "Work",
]
