"""A research question with its mode and limits, as data."""

from typing import Literal

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.record.usage import Budget

ResearchMode = Literal["iterative", "deep", "auto"]
ResearchStep = Literal[
    "started",
    "thinking",
    "searching",
    "search_complete",
    "judging",
    "looping",
    "section_started",
    "section_finished",
    "synthesizing",
    "complete",
    "partial",
    "failed",
    "cancelled",
]
TERMINAL: frozenset[ResearchStep] = frozenset({"complete", "partial", "failed", "cancelled"})
"""Exactly one of them ends a run of research."""


class Turn(Frozen):
    """What one side said in the conversation before a question."""

    role: Literal["user", "assistant"]
    text: str


class Inquiry(Frozen):
    """The settings of a run whose first version is researched, not written from the task alone."""

    mode: ResearchMode = "auto"
    """`iterative` is one loop of searches, `deep` a plan and such a loop for each of its sections;
    `auto` takes `deep` for questions that ask for a report."""
    history: tuple[Turn, ...] = ()
    """The conversation before the question, oldest turn first; agents are shown it as material."""
    adapters: tuple[str, ...] = ()
    """The names of those to search with; empty means all that are configured."""
    sources: tuple[str, ...] = ()
    """The specs of adapters that came with the question, such as `notes=folder:/home/me/notes`, in
    place of the configured ones. They hold no key."""
    max_iterations: int = Field(default=3, ge=1, le=20)
    """Rounds of searches in each loop."""
    max_sections: int = Field(default=6, ge=1, le=12)
    """Of a plan with more, the first ones are researched and the rest is reported."""
    parallel: int = Field(default=4, ge=1, le=12)
    """Sections researched at the same time."""
    section_budget: Budget | None = None
    """The budget of one section's research, within the run's own budget for all of it."""
