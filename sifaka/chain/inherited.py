"""The details of a run's research that its versions carry."""

from collections.abc import Mapping

from sifaka.record.outcome import RESEARCH, findings
from sifaka.record.run import Run
from sifaka.record.thought import Thought


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
