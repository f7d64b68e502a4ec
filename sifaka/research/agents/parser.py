"""The agent that reads a question before the research: its meaning, and the mode it asks for."""

from typing import Literal

from pydantic import Field

from sifaka.models.coercion import Form
from sifaka.models.prompt import Prompt, frame
from sifaka.research.agents.agent import ResearchAgent

# The model is sent the docstrings and descriptions of these forms: the calls on record, and so
# the resume of a run, depend on their words.


class ParsedQuestion(Form):
    """The question as it is meant."""

    question: str = Field(
        min_length=1, description="the question in full, understandable without the conversation"
    )
    mode: Literal["iterative", "deep"] = Field(
        description="iterative: one answer; deep: a report of several sections"
    )


PARSER = ResearchAgent(
    name="parser",
    prompt=Prompt(
        purpose="Reads a question: what it means after the conversation, and how wide it is.",
        task="You read a question before it is researched. Do not answer it.",
        rules=(
            "Give the question in its own language and words. Where it refers to the conversation, "
            "put what is meant in the place of words such as `it` and `there`. Leave nothing out, "
            "and add nothing.",
            "`deep` is for a question that asks for a report, an overview, a comparison or an "
            "analysis, or for several things at once; `iterative` for any other.",
        ),
    ),
    output=ParsedQuestion,
)


def parser_prompt(question: str) -> str:
    """The question as it was asked."""
    return f"{frame('question', question)}\n\nRead the question."
