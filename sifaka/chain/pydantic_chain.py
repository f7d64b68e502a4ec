"""The door for PydanticAI agents."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

from sifaka.chain.chain import Chain
from sifaka.chain.options import CommonOptions
from sifaka.critics import CriticSpec
from sifaka.validators import ValidatorLike

if TYPE_CHECKING:
    from pydantic_ai import Agent


def create_pydantic_chain(
    agent: "Agent[Any, Any]",
    validators: Iterable[ValidatorLike] = (),
    critics: CriticSpec | Iterable[CriticSpec] | None = None,
    **options: Unpack[CommonOptions],
) -> Chain:
    """The chain in which a PydanticAI agent writes, with its own instructions and tools.

    Args:
        agent: Its tool calls are recorded in each Thought.
        validators: The validators that a text must pass.
        critics: The critics; `self_refine` by the agent's model when None.
        **options: As for `Chain`.
    """
    return Chain(model=agent, validators=validators, critics=critics, **options)
