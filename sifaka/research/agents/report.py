"""The agents of a whole report: they plan it, let a section follow another, and sum up."""

from collections.abc import Sequence

from pydantic import Field

from sifaka.models.coercion import Form
from sifaka.models.prompt import Prompt, frame
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


class NextSection(Form):
    """The section as it stands in the report."""

    section: str = Field(min_length=1, description="Markdown without headings; cites as its draft")


class Summary(Form):
    """What stands before the sections."""

    summary: str = Field(
        min_length=1, description="one or two paragraphs of Markdown without headings"
    )


PLANNER = ResearchAgent(
    name="planner",
    prompt=Prompt(
        purpose="Plans the sections of a report.",
        task="You plan a report that answers a question. Give its title and its sections in order.",
        rules=(
            "Give each section a heading and the question that it answers. The question can be "
            "understood without the other sections.",
            "Different people research the sections at the same time, and do not see each other's "
            "work. So no section overlaps with another or builds on it.",
            "Plan no introduction, no conclusion and no references.",
        ),
    ),
    output=ReportPlan,
)
LONG_WRITER = ResearchAgent(
    name="long_writer",
    prompt=Prompt(
        purpose="Writes a section again so that it follows from the sections before it.",
        task="You write a report section by section. Each section was drafted by a writer who did "
        "not know the others. Write the next section so that it follows from those before it.",
        rules=(
            "Take every statement from the draft, and nothing from what you know.",
            "Leave out what the sections before it have said already, use their terms, and refer "
            "to them where that helps.",
            "Keep each citation such as [2] behind the statement that it stands behind.",
            "Write Markdown without headings, without references and without a preface.",
        ),
    ),
    output=NextSection,
    plain="section",
)
SYNTHESIZER = ResearchAgent(
    name="synthesizer",
    prompt=Prompt(
        purpose="Writes the summary of a report from its sections.",
        task="You write the summary that opens a report. It answers the question in one or two "
        "paragraphs.",
        rules=(
            "Take every statement from the sections, and nothing from what you know.",
            "Say what the sections leave open or could not find out.",
            "After each statement repeat the citation that the section has for it, such as [2].",
            "Write no headings, no references and no preface.",
        ),
    ),
    output=Summary,
    plain="summary",
)


def planner_prompt(question: str, most_sections: int) -> str:
    """The question of the report, and the number of sections it may have."""
    return f"{frame('question', question)}\n\nPlan at most {most_sections} sections."


def long_writer_prompt(
    question: str, *, outline: Sequence[str], before: str, title: str, draft: str
) -> str:
    """The sections so far without citations, and the draft of the next one."""
    return "\n\n".join(
        (
            frame("question", question),
            frame("outline", "\n".join(f"- {each}" for each in outline)),
            frame("sections before", before),
            frame("section", title),
            frame("draft", draft),
            "Write the section.",
        )
    )


def synthesizer_prompt(question: str, body: str) -> str:
    """The question of the report, and its sections with their citations."""
    return f"{frame('question', question)}\n\n{frame('sections', body)}\n\nWrite the summary."
