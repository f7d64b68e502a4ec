"""The agent that turns a gap into searches."""

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.models.coercion import Form
from sifaka.models.framing import frame
from sifaka.research.agents.ask import ResearchAgent

MOST_TASKS = 12
"""Searches of one iteration; every one of them is made."""


class ToolSelectorInput(Frozen):
    """What is missing, and where one can search."""

    question: str
    gaps: tuple[str, ...]
    adapters: tuple[str, ...]
    past: str = ""
    """What was searched for before."""


class AgentTask(Form):
    """One search."""

    query: str = Field(min_length=1, description="a few words, as for a search engine")
    adapter: str | None = Field(
        default=None, description="where to search, by its name; nothing searches everywhere"
    )


class AgentSelectionPlan(Form):
    """The searches to make now."""

    tasks: list[AgentTask] = Field(min_length=1, max_length=MOST_TASKS)


def _prompt(given: ToolSelectorInput) -> str:
    return "\n\n".join(
        (
            frame("question", given.question),
            frame("gaps", "\n".join(f"- {gap}" for gap in given.gaps)),
            f"Places to search: {', '.join(given.adapters)}.",
            frame("earlier searches", given.past or "none yet"),
        )
    )


TOOL_SELECTOR = ResearchAgent(
    name="tool_selector",
    instructions=(
        "You choose the searches that fill gaps of a research. Give 1 to 4 queries of a few "
        "telling words each, in the language of the question; all of them are made. Name a place "
        "for a query only when one of them is clearly the right one. Do not repeat a search."
    ),
    prompt=_prompt,
    output=AgentSelectionPlan,
)
