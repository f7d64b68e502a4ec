"""The agents of one section: they think, name gaps, choose searches, and write."""

from collections.abc import Sequence

from pydantic import Field

from sifaka.models.coercion import Form
from sifaka.models.prompt import Prompt, frame
from sifaka.research.agents.agent import ResearchAgent

MOST_TASKS = 12
"""Searches of one iteration; every one of them is made."""

# The model is sent the docstrings and descriptions of these forms: the calls on record, and so
# the resume of a run, depend on their words.


class Observations(Form):
    """The state of the research."""

    observations: str = Field(
        min_length=1, description="what is known, what is open, what contradicts itself"
    )


class KnowledgeGapOutput(Form):
    """Your decision: is the question answered, and what is missing?"""

    research_complete: bool = Field(description="true when the findings answer the question")
    gaps: list[str] = Field(
        default_factory=list[str],
        description="what is missing, each as a question of its own, the most urgent first; empty "
        "when the research is complete",
    )


class Continuation(Form):
    """Your decision: is another search worth its cost?"""

    should_continue: bool = Field(description="true when another search is likely to help")
    reason: str = Field(default="", description="in one sentence")


class AgentTask(Form):
    """One search."""

    query: str = Field(min_length=1, description="a few words, as for a search engine")
    adapter: str | None = Field(
        default=None, description="the place to search, by its name; without one all are searched"
    )


class AgentSelectionPlan(Form):
    """The searches to make now."""

    tasks: list[AgentTask] = Field(min_length=1, max_length=MOST_TASKS)


class Draft(Form):
    """A text that cites its sources."""

    text: str = Field(min_length=1, description="Markdown without headings; cites findings as [n]")


THINKING = ResearchAgent(
    name="thinking",
    prompt=Prompt(
        purpose="Takes stock of what the searches so far have found.",
        task="You research a question by several rounds of searches. Take stock of the findings in "
        "a few sentences.",
        rules=(
            "Say what the findings establish, what they leave open, where they contradict each "
            "other, and what to look for next.",
            "Count as known only what the findings say.",
            "Do not answer the question yet.",
        ),
    ),
    output=Observations,
    plain="observations",
)
KNOWLEDGE_GAP = ResearchAgent(
    name="knowledge_gap",
    prompt=Prompt(
        purpose="Decides if the findings answer the question, and names what is missing.",
        task="You decide if the findings of a research answer its question in full.",
        rules=(
            "Judge by the findings alone, and not by what you know.",
            "If they do not answer it, name the gaps: what a further search could find.",
            "Do not name what earlier searches have failed to find.",
        ),
    ),
    output=KnowledgeGapOutput,
)
SHOULD_CONTINUE = ResearchAgent(
    name="should_continue",
    prompt=Prompt(
        purpose="Decides if the research goes on.",
        task="You judge a research that others do. Decide if it goes on with another search, or "
        "writes from what it has.",
        rules=(
            "It goes on when the findings leave a part of the question open that a further search "
            "is likely to find.",
            "It writes when the findings answer the question, or when earlier searches have "
            "looked for what is missing in vain.",
            "Judge by the findings alone. What the researcher says of them may be wrong.",
        ),
    ),
    output=Continuation,
)
TOOL_SELECTOR = ResearchAgent(
    name="tool_selector",
    prompt=Prompt(
        purpose="Chooses the next searches.",
        task="You choose the searches that fill the gaps of a research.",
        rules=(
            "Give 1 to 4 queries. All of them are made.",
            "Each query has a few telling words in the language of the question.",
            "Name a place for a query only when that place is clearly the right one.",
            "Do not repeat an earlier search.",
        ),
    ),
    output=AgentSelectionPlan,
)
WRITER = ResearchAgent(
    name="writer",
    prompt=Prompt(
        purpose="Writes one section of a report from what was found.",
        task="You write one section of a report from findings. It answers the section's question "
        "in clear prose.",
        rules=(
            "Take every statement from the findings, and nothing from what you know.",
            "After each statement cite its findings by number, each in brackets of its own, such "
            "as [1][3]. Put no other numbers in brackets.",
            "Say where findings contradict each other, and what they leave open.",
            "Introduce a finding that was not verified with words such as `according to`.",
            "Write Markdown without headings, without references and without a preface.",
        ),
    ),
    output=Draft,
    plain="text",
)


def thinking_prompt(question: str, iteration: int, *, past: str, findings: str) -> str:
    """The earlier iterations, and the findings under their numbers."""
    return "\n\n".join(
        (
            frame("question", question),
            frame("earlier iterations", past or "none yet"),
            frame("findings", findings or "nothing was found yet"),
            f"This is iteration {iteration}. Take stock of the findings.",
        )
    )


def gap_prompt(question: str, *, observations: str, findings: str) -> str:
    """The last observations, and the findings they are about."""
    return "\n\n".join(
        (
            frame("question", question),
            frame("findings", findings or "nothing was found yet"),
            frame("observations", observations),
            "Do the findings answer the question in full?",
        )
    )


def continue_prompt(question: str, *, gaps: Sequence[str], findings: str, past: str) -> str:
    """The findings, the gaps that the researcher sees, and the earlier searches."""
    return "\n\n".join(
        (
            frame("question", question),
            frame("earlier searches", past or "none yet"),
            frame("findings", findings or "nothing was found yet"),
            frame("gaps", "\n".join(f"- {gap}" for gap in gaps) or "the researcher sees none"),
            "Does the research go on?",
        )
    )


def selector_prompt(
    question: str, *, gaps: Sequence[str], adapters: Sequence[str], past: str
) -> str:
    """The gaps, the adapters to search with, and the earlier searches."""
    return "\n\n".join(
        (
            frame("question", question),
            f"Places to search: {', '.join(adapters)}.",
            frame("earlier searches", past or "none yet"),
            frame("gaps", "\n".join(f"- {gap}" for gap in gaps)),
            "Choose the searches for these gaps.",
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
            "Write the section.",
        )
    )
