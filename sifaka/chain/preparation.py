"""Loading what the first run of a process needs."""

from sifaka.chain.components import parts_of
from sifaka.chain.resources import Parts, Resources
from sifaka.chain.settings import ChainSettings
from sifaka.models.loading import in_background, loaded, start_loading


async def loaded_parts(
    settings: ChainSettings,
    resources: Resources,
    *,
    without_host: bool = False,
    documents: bool = False,
) -> Parts:
    """The components of a chain, made once their models are loaded; see `parts_of`."""
    await _load(settings)
    return parts_of(settings, resources, without_host=without_host, documents=documents)


async def _load(settings: ChainSettings) -> None:
    """Load the clients of a chain's models, and begin to load the editor meanwhile.

    Returns at once when that has been done before. The event loop is free meanwhile.
    """
    models = (settings.model, settings.judge_model, *settings.fallback_models)
    loadings = [loading for model in models if (loading := start_loading(model)) is not None]
    if all(loading.done() for loading in loadings):
        return
    if settings.edits:
        in_background("the editor", _load_editor)  # and the process that checks grammar
    await loaded(*models)


def _load_editor() -> None:
    from sifaka.editor import lint

    lint("A text.")
