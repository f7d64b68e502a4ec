"""Putting what one retriever finds on a thought, outside a chain."""

from sifaka.record.thought import Thought
from sifaka.retrievers.guarded import DOCUMENTS
from sifaka.retrievers.protocol import Retriever


async def retrieve_for_thought(
    retriever: Retriever,
    thought: Thought,
    *,
    is_pre_generation: bool = True,
    limit: int = DOCUMENTS,
) -> Thought:
    """The thought with documents for its writer, or for its critics.

    Before generation the task is looked for, and the documents join `pre_generation_context`; where
    there is no task it is the text. After generation the text is looked for, and they join
    `post_generation_context`.

    Args:
        retriever: Any retriever.
        thought: Stays as it is.
        is_pre_generation: True when they are for the writer of the text, not for its critics.
        limit: The most documents.

    Raises:
        Exception: The retriever's error.
    """
    if is_pre_generation:
        found = await retriever.retrieve(thought.prompt or thought.text, limit)
        return thought.add_pre_generation_context(found)
    return thought.add_post_generation_context(await retriever.retrieve(thought.text, limit))
