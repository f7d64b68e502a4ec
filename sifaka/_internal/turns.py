"""Turns on the event loop, for work of some milliseconds that many tasks have at the same time.

A loop runs all tasks that are ready before it looks at its sockets again: a hundred of them that
compute for 10 ms each keep an answer that has come waiting for a second. With turns one of them
computes, and then the loop sees to what has come.
"""

import asyncio
from collections import deque

from anyio.lowlevel import RunVar

_ROUNDS = 4
"""Rounds of the loop from one turn to the next. An answer takes as many from socket to store."""


class _Turns:
    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._rounds = 0
        """That are left until the next turn."""

    async def take(self) -> None:
        if not self._rounds:
            self._begin()
            return
        turn = self._loop.create_future()
        self._waiting.append(turn)
        await turn

    def _begin(self) -> None:
        self._rounds = _ROUNDS
        self._loop.call_soon(self._pass)

    def _pass(self) -> None:
        self._rounds -= 1
        if self._rounds:
            self._loop.call_soon(self._pass)
            return
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # its task was cancelled
                turn.set_result(None)
                self._begin()
                return


_turns: RunVar[_Turns] = RunVar("sifaka_turns")


async def turn() -> None:
    """Wait until this task may compute up to its next `await`, which has to come soon.

    Returns at once while no other task wants to.
    """
    turns = _turns.get(None)
    if turns is None:
        _turns.set(turns := _Turns())
    await turns.take()
