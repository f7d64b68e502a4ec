"""Async functions for callers that cannot await."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import anyio

T = TypeVar("T")


def run_blocking(function: Callable[[], Awaitable[T]]) -> T:
    """Run an async function to its end and return its result.

    Works from plain code and from inside a running event loop, which it blocks meanwhile: there it
    uses an event loop in another thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # there is none
        return anyio.run(function)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(anyio.run, function).result()
