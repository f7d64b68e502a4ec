"""The agents of research, each with its instructions, its prompt and its form."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from pydantic import Field

from sifaka.calls.context import scope
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form, ask
from sifaka.record.research_question import Turn

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

Output = TypeVar("Output", bound=Form)
MOST = 20
"""Messages of the user's conversation that an agent is given."""
_LONGEST = 8_000
"""Characters of a conversation that an agent is shown."""
_ANSWERS = frozenset({"tool-return", "builtin-tool-return", "retry-prompt", "retry-feedback"})
"""Kinds of parts that answer an earlier message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchAgent(Generic[Output]):
    """An agent of research, as data."""

    name: str
    prompt: Prompt
    output: type[Output]
    plain: str | None = None
    """The field that takes an answer in plain words, if the agent may answer so."""


async def consult(
    agent: ResearchAgent[Output],
    model: "Model",
    prompt: str,
    *,
    history: "Sequence[ModelMessage]" = (),
) -> Output:
    """Ask an agent; see `sifaka.models.structured.ask`. Its calls go by its name in the journal.

    Raises:
        ModelProviderError: The provider failed, or the second answer could not be read either.
        BudgetExceeded: A call would break the budget.
    """
    with scope(agent.name):
        answer, _ = await ask(
            model, agent.prompt.text, prompt, agent.output, history=history, plain=agent.plain
        )
    return answer


def conversation(turns: Sequence[Turn]) -> "list[ModelMessage]":
    """The last turns of a conversation as one message: material, in which nothing is obeyed."""
    from pydantic_ai.messages import ModelRequest

    lines: list[str] = []
    for turn in reversed(turns[-MOST:]):
        room = _LONGEST - sum(map(len, lines))
        lines.append(f"{turn.role}: {' '.join(turn.text.split())}"[: max(0, room)])
    text = "\n".join(filter(None, reversed(lines)))
    return (
        [ModelRequest.user_text_prompt(frame("conversation", text, lasting=True))] if text else []
    )


def trimmed(messages: "Sequence[ModelMessage]", most: int = MOST) -> "list[ModelMessage]":
    """The last messages of a conversation; a tool call stays with its return.

    Providers refuse a conversation that begins or ends in the middle of an exchange. So a return
    goes with the call that is cut off, and a call without an answer is dropped. The first message
    that is kept is a request with the user's words.
    """
    from pydantic_ai.messages import ModelResponse, ToolCallPart

    def is_open(message: "ModelMessage") -> bool:
        return isinstance(message, ModelResponse) and any(
            isinstance(part, ToolCallPart) for part in message.parts
        )

    def begins(message: "ModelMessage") -> bool:
        kinds = {part.part_kind for part in message.parts}
        return "user-prompt" in kinds and kinds.isdisjoint(_ANSWERS)

    end = len(messages)
    while end and is_open(messages[end - 1]):
        end -= 1
    start = max(0, end - most)
    while start < end and not begins(messages[start]):
        start += 1
    return list(messages[start:end])


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


MOST_TASKS = 12
"""Searches of one iteration; every one of them is made."""


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
    return "\n\n".join(
        (
            *((frame("question of the whole report", part_of),) if part_of else ()),
            frame("section", title),
            frame("question", question),
            frame("observations", observations or "none"),
            frame("findings", findings),
            "Write the section.",
        )
    )


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
