"""The agent that says whether the research is complete, and otherwise what is missing."""

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.models.coercion import Form
from sifaka.models.framing import frame
from sifaka.research.agents.ask import ResearchAgent


class KnowledgeGapInput(Frozen):
    """What was thought about what is known."""

    question: str
    observations: str
    findings: str = ""


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


def _prompt(given: KnowledgeGapInput) -> str:
    return "\n\n".join(
        (
            frame("question", given.question),
            frame("observations", given.observations),
            frame("findings", given.findings or "nothing was found yet"),
        )
    )


KNOWLEDGE_GAP = ResearchAgent(
    name="knowledge_gap",
    instructions=(
        "You judge the state of a research. By the findings alone, and not by what you know, say "
        "whether the question can be answered in full. If not, name the gaps: what a search could "
        "still bring to light. Do not name again what searches have failed to find."
    ),
    prompt=_prompt,
    output=KnowledgeGapOutput,
)
