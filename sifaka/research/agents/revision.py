"""The agents that work on a report as a whole: a long writer and a proofreader."""

from collections.abc import Sequence

from pydantic import Field

from sifaka.models.coercion import Form
from sifaka.models.prompt import Prompt, frame
from sifaka.research.agents.agent import ResearchAgent

MOST_CORRECTIONS = 50

# The model is sent the docstrings and descriptions of these forms: the calls on record, and so
# the resume of a run, depend on their words.


class NextSection(Form):
    """The section as it stands in the report."""

    section: str = Field(min_length=1, description="Markdown without headings; cites as its draft")


class Correction(Form):
    """One correction."""

    find: str = Field(min_length=1, description="words that occur once, copied exactly")
    replace: str = Field(description="what stands there instead")


class Corrections(Form):
    """The corrections of a report; none where it has no mistake."""

    edits: list[Correction] = Field(default_factory=list[Correction], max_length=MOST_CORRECTIONS)


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
PROOFREADER = ResearchAgent(
    name="proofreader",
    prompt=Prompt(
        purpose="Corrects the language of a report by exact replacements.",
        task="You proofread a report. Give its corrections; each replaces some words.",
        rules=(
            "Correct spelling, grammar, punctuation and words that are repeated by mistake.",
            "Change no meaning, number, date, name, quotation, heading or citation.",
            f"Copy `find` exactly; it occurs once. Give at most {MOST_CORRECTIONS} corrections, "
            "and none where nothing is wrong.",
        ),
    ),
    output=Corrections,
)


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


def proofreader_prompt(report: str) -> str:
    """The sections of the report."""
    return f"{frame('report', report)}\n\nGive the corrections."
