"""Work on runs that outlives its request, and what happens when its process does not."""

from sifaka_mcp.runs.jobs import Jobs
from sifaka_mcp.runs.leases import FileLeases
from sifaka_mcp.runs.work import Job, Result, RunKey, Work

__all__ = [
    "FileLeases",
    "Job",
    "Jobs",
    "Result",
    "RunKey",
    "Work",
]
