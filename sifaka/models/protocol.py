"""What every model does."""

from typing import Protocol

from sifaka.immutable import Frozen
from sifaka.results import Usage
from sifaka.thought import Thought, ToolCall


class Generation(Frozen):
    """A version that a model wrote."""

    text: str
    prompt_used: str | None = None
    """What the model was asked; None when nothing was asked, as with the editor."""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()


class Model(Protocol):
    """Writes texts."""

    @property
    def name(self) -> str:
        """Who is recorded as the author."""
        ...

    async def generate_with_thought(self, thought: Thought) -> Generation:
        """The next version.

        A thought without text is written from its prompt; one with a text is improved, by its
        validation results and its critics' feedback.

        Raises:
            ModelProviderError: The provider failed for good.
            BudgetExceeded: The call would break the run's budget.
        """
        ...
