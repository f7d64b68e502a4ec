"""Work on runs that outlives its request, and what happens when its process does not."""

from sifaka_mcp.runs.leases import FileLeases, RunKey
from sifaka_mcp.runs.service import Result, Runs, Ticket, Work

__all__ = [
    "FileLeases",
    "Result",
    "RunKey",
    "Runs",
    "Ticket",
    "Work",
]
