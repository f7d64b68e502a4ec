"""A writer that looks something up before it writes."""

from typing import Any

from sifaka._internal.renamed import instead_of
from sifaka.calls.component import Component, models_of
from sifaka.errors import ConfigurationError
from sifaka.models import Generation, Model, generate
from sifaka.models.provider import provider_model
from sifaka.record.thought import Thought
from sifaka.retrievers.protocol import DOCUMENTS, Retriever, ask


class RetrievalAugmentedModel(Component):
    """A model with documents for its task: retrieval-augmented generation.

    After Lewis et al., "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks" (2020).
    Unlike the retrievers of a chain, which are asked once for all versions, this asks before each
    version. Retrieved texts are data: they stand in a frame that they cannot end.

    What it found is on record with the version it was for, not before. So a run that is killed
    while a version is written looks again when it is resumed, and where it finds something else it
    pays for an answer twice. A `CachedRetriever` whose cache outlives the process finds the same.

    Args:
        model: Any `Model`, or `provider:name`.
        retriever: The source of the documents. When it fails, the model writes without them, and
            the version says so.
        max_passages: The most documents that are added.

    Raises:
        ConfigurationError: The model's name is none of a provider's model, or that cannot be used.
    """

    def __init__(
        self,
        model: Model | str,
        retriever: Retriever,
        *,
        max_passages: int = DOCUMENTS,
        **options: object,
    ) -> None:
        for option in options:
            suggestion = instead_of("RetrievalAugmentedModel", option)
            raise ConfigurationError(f"unknown option {option!r}", suggestion, parameter=option)
        if max_passages < 1:
            raise ConfigurationError(f"max_passages={max_passages}", "give a number from 1")
        self._writer = _make_model(model) if isinstance(model, str) else model
        self._retriever = retriever
        self._max_passages = max_passages

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._writer.name

    @property
    def models(self) -> tuple[Any, ...]:
        """The writer's: critics may ask them too."""
        return models_of(self._writer)

    async def generate_with_thought(self, thought: Thought) -> Generation:
        """The next version; see `Model`.

        Its metadata has the `passages` that were added, by id, title and URL, and `degraded`
        when there are none because the retriever failed.
        """
        query, most = thought.prompt or thought.text, self._max_passages
        documents, degraded = await ask(self._retriever, query, most)
        texts = {document.text for document in thought.pre_generation_context}
        passages = tuple(document for document in documents[:most] if document.text not in texts)
        generation = await generate(self._writer, thought.add_pre_generation_context(passages))
        metadata: dict[str, object] = dict(generation.metadata)
        if passages:
            metadata["passages"] = [{"id": d.id, "title": d.title, "url": d.url} for d in passages]
        if degraded:
            before = metadata.get("degraded", ())
            metadata["degraded"] = [*(before if isinstance(before, tuple) else ()), *degraded]
        return Generation.model_validate({**dict(generation), "metadata": metadata})


def _make_model(name: str) -> Model:
    if ":" not in name and name != "test":
        raise ConfigurationError(
            f"{name!r} names no model of a provider",
            "use provider:name such as openai:gpt-5, or an object with generate_with_thought",
        )
    model = provider_model(name)
    from sifaka.models.agent import DirectModel  # imports PydanticAI, which is loaded now

    return DirectModel(model)
