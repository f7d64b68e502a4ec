"""Work on runs that outlives its request, and what happens when its process does not."""

from server.jobs.jobs import Jobs
from server.jobs.leases import Leases, NoLeases, RunKey
from server.jobs.opening import open_leases
from server.jobs.work import Assignment, Result, Work

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
