"""Turns on the event loop, for work of some milliseconds that many tasks have at the same time.

A loop runs all tasks that are ready before it looks at its sockets again: a hundred of them that
compute for 10 ms each keep an answer that has come waiting for a second. With turns one of them
computes, and then the loop sees to what has come.
"""

import asyncio

from anyio.lowlevel import RunVar

_ROUNDS = 4
"""Rounds of the loop from one turn to the next. An answer takes as many from socket to store."""
_taken: RunVar[asyncio.Lock] = RunVar("sifaka_turns")


async def turn() -> None:
    """Wait until this task may compute up to its next `await`, which has to come soon.

    Returns at once while no other task wants to.
    """
    taken = _taken.get(None)
    if taken is None:
        _taken.set(taken := asyncio.Lock())
    await taken.acquire()
    _release_after(_ROUNDS, taken)


def _release_after(rounds: int, taken: asyncio.Lock) -> None:
    if rounds:
        asyncio.get_running_loop().call_soon(_release_after, rounds - 1, taken)
    else:
        taken.release()
