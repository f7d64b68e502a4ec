"""The conversation that a question belongs to, cut to what an agent is told of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

MOST = 20
"""Messages of a conversation that an agent is told."""
_ANSWERS = frozenset({"tool-return", "builtin-tool-return", "retry-prompt", "retry-feedback"})
"""Kinds of parts that answer what stands before."""


def trimmed(messages: "Sequence[ModelMessage]", most: int = MOST) -> "list[ModelMessage]":
    """The last messages of a conversation; a tool call stays with its return.

    What begins in the middle of an exchange, or ends in one, would be refused by providers: a
    return whose call is cut off goes with it, and so does a call that was never answered. The
    first message that is kept is a request with the user's words.

    Args:
        messages: The conversation, oldest first; it is not changed.
        most: Messages to keep at most.
    """
    ends = list(messages)
    while ends and _calls(ends[-1]):
        ends.pop()
    start = max(0, len(ends) - most)
    while start < len(ends) and not _begins(ends[start]):
        start += 1
    return ends[start:]


def _calls(message: "ModelMessage") -> bool:
    """Whether somebody still has to answer it."""
    from pydantic_ai.messages import ModelResponse, ToolCallPart

    return isinstance(message, ModelResponse) and any(
        isinstance(part, ToolCallPart) for part in message.parts
    )


def _begins(message: "ModelMessage") -> bool:
    """Whether a conversation can begin with it: with the user's words and without any return."""
    kinds = {part.part_kind for part in message.parts}
    return "user-prompt" in kinds and kinds.isdisjoint(_ANSWERS)
