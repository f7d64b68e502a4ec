"""The agent that looks at what is known and thinks about what follows from it."""

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.models.coercion import Form
from sifaka.models.framing import frame
from sifaka.research.agents.ask import ResearchAgent


class ThinkingInput(Frozen):
    """What is known so far."""

    question: str
    iteration: int
    past: str = ""
    """What earlier iterations have thought and searched for."""
    findings: str = ""
    """What was found, each under its number."""


class Observations(Form):
    """What was noticed."""

    observations: str = Field(
        min_length=1, description="what is known by now, what is open or contradicts itself"
    )


def _prompt(given: ThinkingInput) -> str:
    return "\n\n".join(
        (
            frame("question", given.question),
            f"This is iteration {given.iteration}.",
            frame("earlier iterations", given.past or "none yet"),
            frame("findings", given.findings or "nothing was found yet"),
        )
    )


THINKING = ResearchAgent(
    name="thinking",
    instructions=(
        "You research a question in iterations of searches. Look at the findings and say in a few "
        "sentences what they establish about the question, what they leave open, where they "
        "contradict each other, and what to look into next. Do not answer the question yet, and "
        "take nothing for known that the findings do not say."
    ),
    prompt=_prompt,
    output=Observations,
    plain="observations",
)
