"""The protocol of critics."""

from typing import Protocol, runtime_checkable

from sifaka.calls.component import Bindable
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought


@runtime_checkable
class Critic(Protocol):
    """Reads a text and says whether it needs a revision, and why."""

    @property
    def name(self) -> str:
        """The name that its feedback is filed under."""
        ...

    async def critique(self, thought: Thought) -> CriticFeedback:
        """An opinion on `thought.text`, written for the task `thought.prompt`.

        A critic that cannot judge returns `CriticFeedback.abstain(...)` or raises a `SifakaError`;
        both are an abstention, never a vote.
        """
        ...


class CriticComponent(Critic, Bindable, Protocol):
    """A critic that says what it needs, as chains hold them."""
