"""Writing: a writer's answer, and the text in it."""

from functools import partial
from types import MappingProxyType

from anyio import to_thread

from sifaka.calls.context import current_calls
from sifaka.errors import ModelProviderError
from sifaka.models.draft import Unfit, draft_of
from sifaka.models.draft_source import Source
from sifaka.models.prompts import PROMPT
from sifaka.models.protocol import Generation, Model
from sifaka.record.thought import Thought

MENDED = "mended"
"""The key in a version's metadata: the parts of the answer that were taken off, in words."""
REFUSED = "refused"
"""The key in a version's metadata: the reason why no text could be taken from the answer."""
_LONG = 20_000
"""Characters of an answer from which it is read in a thread."""


class UnfitDraft(ModelProviderError):
    """A writer's answer holds what is not of the text, and where the text is cannot be told."""

    def __init__(self, writer: str, generation: Generation, reason: str) -> None:
        super().__init__(
            f"{writer}: the answer was refused: {reason}",
            "try again or choose another model",
            provider=writer.partition(":")[0],
            code="unfit",
        )
        self.generation = generation
        self.reason = reason

    @property
    def refused(self) -> Generation:
        """The answer as a version that is turned down."""
        return _noted(self.generation, REFUSED, self.reason)


async def written(writer: Model, thought: Thought) -> Generation:
    """The next version, without what is not of the text.

    Raises:
        UnfitDraft: The text in the answer cannot be told.
        ModelProviderError: As for `Model.generate_with_thought`.
        BudgetExceeded: As for `Model.generate_with_thought`.
    """
    generation = await writer.generate_with_thought(thought)
    if not current_calls().mends:
        return generation
    reading = partial(draft_of, generation.text, source_of(thought, generation.prompt_used or ""))
    try:
        is_long = len(generation.text) + len(thought.text) > _LONG
        draft = await to_thread.run_sync(reading) if is_long else reading()
    except Unfit as error:
        raise UnfitDraft(writer.name, generation, str(error)) from error
    if not draft.mended:
        return generation
    changed = generation.model_copy(update={"text": draft.text})
    return _noted(changed, MENDED, draft.mended)


def source_of(thought: Thought, prompt: str) -> Source:
    """The source of the next version of a thought."""
    return Source(
        text=thought.text,
        task=thought.prompt,
        prompt=prompt,
        instructions=PROMPT.text if prompt else "",
        material="\n".join(f"{d.title}\n{d.text}" for d in thought.pre_generation_context),
    )


def _noted(generation: Generation, key: str, value: object) -> Generation:
    metadata = MappingProxyType({**generation.metadata, key: value})
    return generation.model_copy(update={"metadata": metadata})
