"""The agent that puts a report together: it sums up the sections, which stay as they are."""

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.models.coercion import Form
from sifaka.models.framing import frame
from sifaka.research.agents.ask import ResearchAgent


class ReportDraft(Frozen):
    """The report as it is without a summary."""

    question: str
    title: str
    body: str
    """The sections in their order, cited as in the report."""


class Summary(Form):
    """What stands before the sections."""

    summary: str = Field(
        min_length=1, description="one or two paragraphs of Markdown without headings"
    )


def _prompt(given: ReportDraft) -> str:
    return "\n\n".join((frame("question", given.question), frame("sections", given.body)))


SYNTHESIZER = ResearchAgent(
    name="synthesizer",
    instructions=(
        "You write the summary that opens a report. In one or two paragraphs, answer the question "
        "from the sections and from nothing else, and say what they leave open or could not find "
        "out. Keep their citations: after each statement the numbers in brackets, such as [2], "
        "that the section cites for it. Write no headings, no references and no preface."
    ),
    prompt=_prompt,
    output=Summary,
    plain="summary",
)
