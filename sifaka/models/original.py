"""The text that a run started with, beside a version of it."""

from collections.abc import Sequence
from types import MappingProxyType

from sifaka.models.framing import frame
from sifaka.record.thought import Thought

ORIGINAL = "original"
"""The key in a thought's metadata under which its original is, for the time of a judgement."""


def with_original(thought: Thought, original: Thought | None) -> Thought:
    """The thought with its original at hand, where the run started with a text."""
    if original is None or original.author != "input" or original.text == thought.text:
        return thought
    metadata = MappingProxyType({**thought.metadata, ORIGINAL: original.text})
    return thought.model_copy(update={"metadata": metadata})


def original_of(thought: Thought, *others: Thought) -> Sequence[str]:
    """The original as a part of a prompt; none where there is none, or one of the texts is it."""
    original = thought.metadata.get(ORIGINAL)
    texts = {each.text.strip() for each in (thought, *others)}
    if not isinstance(original, str) or not original.strip() or original.strip() in texts:
        return ()
    return (frame("original", original, lasting=True),)
