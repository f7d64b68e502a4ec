"""Loading what the first run of a process needs."""

from collections.abc import Sequence

from sifaka.chain.components import parts_of
from sifaka.chain.resources import Parts, Resources
from sifaka.chain.settings import ChainSettings
from sifaka.chain.writers import asks_a_provider
from sifaka.models.provider import in_background, loaded, start_loading


async def loaded_parts(
    settings: ChainSettings,
    resources: Resources,
    *,
    without_host: bool = False,
    documents: bool = False,
) -> Parts:
    """The components of a chain, made once their models are loaded; see `parts_of`.

    The event loop is free while they are loaded.
    """
    named = (settings.model, settings.judge_model, *settings.fallback_models)
    models = [model for model in named if model is not None and asks_a_provider(model)]
    if models:
        await _load(models, edits=settings.edits)
    return parts_of(settings, resources, without_host=without_host, documents=documents)


async def _load(models: Sequence[object], *, edits: bool) -> None:
    """Load the clients of models, and begin to load the editor meanwhile."""
    loadings = [loading for model in models if (loading := start_loading(model)) is not None]
    if all(loading.done() for loading in loadings):
        return
    if edits:
        in_background("the editor", _load_editor)  # and the process that checks grammar
    await loaded(*models)


def _load_editor() -> None:
    from sifaka.editor import lint

    lint("A text.")
