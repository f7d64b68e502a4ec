"""The door for PydanticAI agents."""

from collections.abc import Mapping, Sequence
from typing import Any

from sifaka.chain.chain import Chain
from sifaka.critics import CriticSpec
from sifaka.validators.protocol import Validator


def create_pydantic_chain(
    agent: Any,
    validators: Sequence[Validator | Mapping[str, object]] = (),
    critics: Sequence[CriticSpec] | None = None,
    **settings: Any,
) -> Chain:
    """The chain in which a PydanticAI agent writes, with its own instructions and tools.

    Args:
        agent: A `pydantic_ai.Agent`; its tool calls are recorded in each Thought.
        validators: What a text must pass.
        critics: Who judges it; `self_refine` by the agent's model when None.
        **settings: As for `Chain`.
    """
    return Chain(model=agent, validators=validators, critics=critics, **settings)
