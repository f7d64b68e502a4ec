"""The agents of a whole report: one plans its sections, one sums them up."""

from pydantic import Field

from sifaka.models.coercion import Form
from sifaka.models.framing import frame
from sifaka.research.agents.agent import ResearchAgent

# The model is sent the docstrings and descriptions of these forms: the calls on record, and so
# the resume of a run, depend on their words.


class PlannedSection(Form):
    """One section of the report."""

    title: str = Field(min_length=1, description="a heading of a few words")
    question: str = Field(
        min_length=1,
        description="what the section has to answer, understandable without the others",
    )


class ReportPlan(Form):
    """The outline of a report."""

    title: str = Field(default="", description="of the whole report")
    sections: list[PlannedSection] = Field(min_length=1)


class Summary(Form):
    """What stands before the sections."""

    summary: str = Field(
        min_length=1, description="one or two paragraphs of Markdown without headings"
    )


PLANNER = ResearchAgent(
    name="planner",
    instructions=(
        "You plan a report that answers a question. Give a title and the sections in their order, "
        "each with a heading and the question that it has to answer. Sections are researched at "
        "the same time by people who do not see each other's work: they must not overlap nor rest "
        "on each other. Plan no introduction, no conclusion and no references."
    ),
    output=ReportPlan,
)
SYNTHESIZER = ResearchAgent(
    name="synthesizer",
    instructions=(
        "You write the summary that opens a report. In one or two paragraphs, answer the question "
        "from the sections and from nothing else, and say what they leave open or could not find "
        "out. Keep their citations: after each statement the numbers in brackets, such as [2], "
        "that the section cites for it. Write no headings, no references and no preface."
    ),
    output=Summary,
    plain="summary",
)


def planner_prompt(question: str, most_sections: int) -> str:
    """The question of the report, and the number of sections it may have."""
    return f"{frame('question', question)}\n\nPlan at most {most_sections} sections."


def synthesizer_prompt(question: str, body: str) -> str:
    """The question of the report, and its sections with their citations."""
    return f"{frame('question', question)}\n\n{frame('sections', body)}"
