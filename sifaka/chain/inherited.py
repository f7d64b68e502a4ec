"""The details of a run's research that its versions carry."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from sifaka.record.run import Run
from sifaka.record.thought import Thought

RESEARCH = "research"
"""The key in a version's metadata: `mode`, `partial`, `outline`, `sections`, ..."""
_NOTHING: Mapping[str, object] = MappingProxyType({})


def findings(thought: Thought | None) -> Mapping[str, object]:
    """The details of the research that a version goes back to; empty where there was none."""
    told = None if thought is None else thought.metadata.get(RESEARCH)
    return cast("Mapping[str, object]", told) if isinstance(told, Mapping) else _NOTHING


def carried(thought: Thought) -> Mapping[str, object]:
    """The metadata that every version made from this one keeps."""
    told = findings(thought)
    return {RESEARCH: told} if told else {}


def inheriting(first: Thought, origin: Run) -> Thought:
    """The input of a run that branches off another one, with what that one had found."""
    best = origin.champion or origin.latest
    if best is None or not findings(best):
        return first
    documents = (*best.pre_generation_context, *first.pre_generation_context)
    metadata = {**first.metadata, **carried(best)}
    return first.with_text(first.text, pre_generation_context=documents, metadata=metadata)
