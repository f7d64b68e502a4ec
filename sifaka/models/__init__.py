"""Models: what writes the versions of a text.

A writer is named by a string: `editor` (rules, no model), `caller` (the calling agent), `host` (the
model of the calling program), or `provider:name` for anything PydanticAI knows. Writers that need
PydanticAI import it when used.
"""

from collections.abc import Awaitable
from inspect import isawaitable
from typing import Literal, Protocol, runtime_checkable

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenJson
from sifaka._internal.lazy import imported_later
from sifaka.record.thought import CALLER as CALLER
from sifaka.record.thought import Thought, ToolCall
from sifaka.record.usage import Usage

AUTO: Literal["auto"] = "auto"
"""The editor, then the calling agent; a server puts its configured provider in its place."""
HOST: Literal["host"] = "host"
"""The model of the program that called us."""


class Generation(Frozen):
    """A version that a model wrote."""

    text: str
    prompt_used: str | None = None
    """The prompt of the model; None without one, as with the editor."""
    author: str | None = None
    """The author, when that is not the model by its own name, as after a fallback."""
    tool_calls: tuple[ToolCall, ...] = ()
    metadata: FrozenJson = Field(default_factory=dict[str, object])
    """Further details to keep, such as the editor's log."""
    usage: Usage = Field(default_factory=Usage)
    """Its usage."""
    metered: bool = False
    """True when its calls went through a metered model, which has charged them already."""


Written = Generation | tuple[str, str]
"""A version that a model wrote, or its text and the prompt that was used."""


@runtime_checkable
class Model(Protocol):
    """Writes texts."""

    @property
    def name(self) -> str:
        """The name that is recorded as the author."""
        ...

    def generate_with_thought(self, thought: Thought) -> Awaitable[Written] | Written:
        """The next version; of an async function it is awaited.

        A thought without text is written from its prompt; one with a text is improved, by its
        validation results and its critics' feedback.

        Raises:
            ModelProviderError: The provider failed for good.
            BudgetExceeded: The call would break the run's budget.
        """
        ...


async def generate(writer: Model, thought: Thought) -> Generation:
    """The next version of a thought by any writer; raises what `generate_with_thought` does."""
    result = writer.generate_with_thought(thought)
    answer = await result if isawaitable(result) else result
    if isinstance(answer, Generation):
        return answer
    text, prompt = answer
    return Generation(text=text, prompt_used=prompt)


__getattr__ = imported_later(__name__, {})
