"""What every model does."""

from typing import Protocol, runtime_checkable

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenJson
from sifaka.record.thought import Thought, ToolCall
from sifaka.record.usage import Usage


class Generation(Frozen):
    """A version that a model wrote."""

    text: str
    prompt_used: str | None = None
    """What the model was asked; None when nothing was asked, as with the editor."""
    author: str | None = None
    """Who wrote it, when that is not the model by its own name, as after a fallback."""
    tool_calls: tuple[ToolCall, ...] = ()
    metadata: FrozenJson = Field(default_factory=dict[str, object])
    """What else is worth keeping, such as the editor's log."""
    usage: Usage = Usage()
    """What it cost."""
    metered: bool = False
    """Whether its calls went through a metered model, which has charged them already."""


@runtime_checkable
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
