"""The agents of one section: they think, name gaps, choose searches, and write."""

from collections.abc import Sequence

from pydantic import Field

from sifaka.models.coercion import Form
from sifaka.models.framing import frame
from sifaka.research.agents.agent import ResearchAgent

MOST_TASKS = 12
"""Searches of one iteration; every one of them is made."""

# The model is sent the docstrings and descriptions of these forms: the calls on record, and so
# the resume of a run, depend on their words.


class Observations(Form):
    """What was noticed."""

    observations: str = Field(
        min_length=1, description="what is known by now, what is open or contradicts itself"
    )


class KnowledgeGapOutput(Form):
    """Whether the question can be answered, and what is missing for that."""

    research_complete: bool = Field(
        description="whether the findings suffice to answer the question"
    )
    gaps: list[str] = Field(
        default_factory=list[str],
        description="what is still to be found out, each as a question of its own, most urgent "
        "first; empty when the research is complete",
    )


class AgentTask(Form):
    """One search."""

    query: str = Field(min_length=1, description="a few words, as for a search engine")
    adapter: str | None = Field(
        default=None, description="where to search, by its name; nothing searches everywhere"
    )


class AgentSelectionPlan(Form):
    """The searches to make now."""

    tasks: list[AgentTask] = Field(min_length=1, max_length=MOST_TASKS)


class Draft(Form):
    """A text that cites its sources."""

    text: str = Field(min_length=1, description="Markdown without headings; cites findings as [n]")


THINKING = ResearchAgent(
    name="thinking",
    instructions=(
        "You research a question in iterations of searches. Look at the findings and say in a few "
        "sentences what they establish about the question, what they leave open, where they "
        "contradict each other, and what to look into next. Do not answer the question yet, and "
        "take nothing for known that the findings do not say."
    ),
    output=Observations,
    plain="observations",
)
KNOWLEDGE_GAP = ResearchAgent(
    name="knowledge_gap",
    instructions=(
        "You judge the state of a research. By the findings alone, and not by what you know, say "
        "whether the question can be answered in full. If not, name the gaps: what a search could "
        "still bring to light. Do not name again what searches have failed to find."
    ),
    output=KnowledgeGapOutput,
)
TOOL_SELECTOR = ResearchAgent(
    name="tool_selector",
    instructions=(
        "You choose the searches that fill gaps of a research. Give 1 to 4 queries of a few "
        "telling words each, in the language of the question; all of them are made. Name a place "
        "for a query only when one of them is clearly the right one. Do not repeat a search."
    ),
    output=AgentSelectionPlan,
)
WRITER = ResearchAgent(
    name="writer",
    instructions=(
        "You write one section of a report from findings. Answer the section's question in clear "
        "prose, by the findings alone and not by what you know. After each statement cite the "
        "findings it rests on by their numbers, each in brackets of its own, such as [1][3]; use "
        "no other numbers in brackets. Where findings contradict each other say so, and say what "
        "they leave open. Findings that were not verified need words such as `according to`. "
        "Write Markdown without headings, without a list of references and without a preface."
    ),
    output=Draft,
    plain="text",
)


def thinking_prompt(question: str, iteration: int, *, past: str, findings: str) -> str:
    """The earlier iterations, and the findings under their numbers."""
    return "\n\n".join(
        (
            frame("question", question),
            f"This is iteration {iteration}.",
            frame("earlier iterations", past or "none yet"),
            frame("findings", findings or "nothing was found yet"),
        )
    )


def gap_prompt(question: str, *, observations: str, findings: str) -> str:
    """The last observations, and the findings they are about."""
    return "\n\n".join(
        (
            frame("question", question),
            frame("observations", observations),
            frame("findings", findings or "nothing was found yet"),
        )
    )


def selector_prompt(
    question: str, *, gaps: Sequence[str], adapters: Sequence[str], past: str
) -> str:
    """The gaps, the adapters to search with, and the earlier searches."""
    return "\n\n".join(
        (
            frame("question", question),
            frame("gaps", "\n".join(f"- {gap}" for gap in gaps)),
            f"Places to search: {', '.join(adapters)}.",
            frame("earlier searches", past or "none yet"),
        )
    )


def writer_prompt(
    title: str, question: str, *, findings: str, observations: str, part_of: str
) -> str:
    """The section to write, its findings, and the question of the report it is a part of."""
    whole = [frame("question of the whole report", part_of)] if part_of else []
    return "\n\n".join(
        (
            *whole,
            frame("section", title),
            frame("question", question),
            frame("observations", observations or "none"),
            frame("findings", findings),
        )
    )
