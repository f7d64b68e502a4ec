"""Work on runs that outlives its request, and what happens when its process does not."""

from sifaka_mcp.runs.jobs import Jobs
from sifaka_mcp.runs.lease_choice import open_leases
from sifaka_mcp.runs.leases import Leases, NoLeases, RunKey
from sifaka_mcp.runs.work import Assignment, Result, Work

__all__ = [
    "Assignment",
    "Jobs",
    "Leases",
    "NoLeases",
    "Result",
    "RunKey",
    "Work",
    "open_leases",
]
