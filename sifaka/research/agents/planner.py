"""The agent that makes the outline of a report."""

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.models.coercion import Form
from sifaka.models.framing import frame
from sifaka.research.agents.ask import ResearchAgent


class PlannerInput(Frozen):
    """What the report is to answer."""

    question: str
    most_sections: int


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


def _prompt(given: PlannerInput) -> str:
    most = f"Plan at most {given.most_sections} sections."
    return "\n\n".join((frame("question", given.question), most))


PLANNER = ResearchAgent(
    name="planner",
    instructions=(
        "You plan a report that answers a question. Give a title and the sections in their order, "
        "each with a heading and the question that it has to answer. Sections are researched at "
        "the same time by people who do not see each other's work: they must not overlap nor rest "
        "on each other. Plan no introduction, no conclusion and no references."
    ),
    prompt=_prompt,
    output=ReportPlan,
)
