"""The era of 2026-07-28: the tool answers with its questions, and is called again with answers."""

from collections.abc import Mapping

from sifaka.errors import ModelProviderError
from sifaka.hosts import HostAnswer, HostQuestion, Suspended
from sifaka.models import HOST

MOST_ROUNDS = 10
"""How often clients go and ask before they give up on a call, in all known SDKs."""


class Rounds:
    """Knows the answers that a request has brought; whatever else is asked waits for the next one.

    Args:
        answers: By the keys of their questions; for one that was refused, why.
        last: Whether the client would not come back once more.
    """

    def __init__(
        self, answers: Mapping[str, HostAnswer | ModelProviderError], *, last: bool
    ) -> None:
        self._answers = answers
        self._last = last

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        """The answer that was brought; see `Host`."""
        answer = self._answers.get(key)
        if isinstance(answer, ModelProviderError):
            raise answer
        if answer is not None:
            return answer
        if self._last:
            raise ModelProviderError(
                f"{HOST}: clients ask their model {MOST_ROUNDS} times for one call, and no more",
                provider=HOST,
                code="unavailable",
            )
        raise Suspended({key: question})


class Silence:
    """A host that has been waited for long enough.

    Args:
        seconds: How long that was.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def ask(self, key: str, question: HostQuestion) -> HostAnswer:
        """It does not answer; see `Host`."""
        del key, question
        raise ModelProviderError(
            f"{HOST}: the client has not come back with answers within {self._seconds:g} s",
            provider=HOST,
            code="unavailable",
        )
