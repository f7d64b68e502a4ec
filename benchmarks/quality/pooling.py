"""Blocks of runs on all cores."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def workers(processes: int | None) -> ProcessPoolExecutor:
    """So many processes, or one for each core; to be closed by the caller."""
    return ProcessPoolExecutor(processes or os.cpu_count(), mp_context=get_context("spawn"))


def spread(work: Callable[[T], R], jobs: Sequence[T], pool: ProcessPoolExecutor | None) -> list[R]:
    """The results of the jobs, in their order.

    Args:
        work: A function of a module.
        jobs: What it is called with.
        pool: Who works; this process itself when None.
    """
    return [work(job) for job in jobs] if pool is None else list(pool.map(work, jobs))
