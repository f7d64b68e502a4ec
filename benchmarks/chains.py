"""Chains whose model and critic take no time and are never satisfied."""

from benchmarks.samples import version_text
from sifaka.chain import Chain
from sifaka.storage.protocol import ThoughtStore
from sifaka.testing import ScriptedCritic, ScriptedModel


def endless_chain(store: ThoughtStore, iterations: int) -> Chain:
    """A chain that writes so many versions of 8 KB, each accepted and none passing."""
    return Chain(
        model=ScriptedModel(lines=[version_text(number) for number in range(1, iterations + 1)]),
        validators=(
            {"type": "length", "max_chars": 1000, "max_words": 2000},
            {"type": "content", "required": ["unobtainable"], "prohibited": ["unthinkable"]},
        ),
        critics=(ScriptedCritic(objects_to=lambda _: True, suggestions=("shorten it",)),),
        max_iterations=iterations,
        fixes="none",  # the loop is measured, not the editor
        store=store,
    )
