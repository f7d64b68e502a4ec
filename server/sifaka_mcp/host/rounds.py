"""The era of 2026-07-28: the tool answers with its questions, and is called again with answers."""

from collections.abc import Mapping

from sifaka.calls.host import HostAnswer, HostQuestion, Suspended, Unreachable
from sifaka.models import HOST

MOST_ROUNDS = 10
"""Rounds after which clients give up on a call, in all known SDKs."""


class Rounds:
    """Answers from what the request has brought; every other question waits for the next round.

    Args:
        answers: By the keys of their questions.
        closed: Why there cannot be another round; None when there can.
    """

    def __init__(self, answers: Mapping[str, HostAnswer], *, closed: str | None) -> None:
        self._answers = answers
        self._closed = closed

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        """The answer that was brought; see `Host`."""
        answer = self._answers.get(key)
        if answer is not None:
            return answer
        if self._closed is not None:
            return await Unreachable(f"{HOST}: {self._closed}").ask(key, question)
        raise Suspended({key: question})
