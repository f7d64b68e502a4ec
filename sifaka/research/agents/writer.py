"""The agent that writes a section, or an answer, from what was found."""

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.models.coercion import Form
from sifaka.models.framing import frame
from sifaka.research.agents.ask import ResearchAgent


class WriterInput(Frozen):
    """What to write about, and from what."""

    title: str
    question: str
    findings: str
    """What may be used, each under the number to cite it by."""
    observations: str = ""
    """What was thought of it last."""
    part_of: str = ""
    """The question of the whole report, where this is a section of one."""


class Draft(Form):
    """A text that cites its sources."""

    text: str = Field(min_length=1, description="Markdown without headings; cites findings as [n]")


def _prompt(given: WriterInput) -> str:
    whole = [frame("question of the whole report", given.part_of)] if given.part_of else []
    return "\n\n".join(
        (
            *whole,
            frame("section", given.title),
            frame("question", given.question),
            frame("observations", given.observations or "none"),
            frame("findings", given.findings),
        )
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
    prompt=_prompt,
    output=Draft,
    plain="text",
)
