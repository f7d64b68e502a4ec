"""What models are really sent, recorded from the components: the body of `prompts.md`."""

import json
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Any

import anyio
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from sifaka.calls.component import Binding
from sifaka.calls.context import Calls, scope
from sifaka.calls.ledger import Ledger
from sifaka.chain import version_comparison
from sifaka.critics import (
    constitutional,
    meta_rewarding,
    n_critics,
    prompt,
    reflexion,
    self_consistency,
    self_rag,
    self_refine,
)
from sifaka.evidence import pipeline, verify
from sifaka.evidence.claims import comparison, extraction
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import Criterion
from sifaka.models import writing
from sifaka.models.agent import DirectModel
from sifaka.models.prompt import PROMPTS_VERSION, Prompt, frame
from sifaka.models.provider import provider_model
from sifaka.record.results import CriticFeedback, Findings, Issue, ValidationResult
from sifaka.record.thought import Document, Thought
from sifaka.record.usage import Budget, Usage
from sifaka.research import agents
from sifaka.research.agents import ResearchAgent, consult
from sifaka.text.differences import Difference

CHARACTERS_PER_TOKEN = 4
"""The estimate of `benchmarks.tool_tokens`, which errs upwards."""
PAGE = Path(__file__).with_name("prompts.md")
BEGIN, END = "<!-- begin: make snapshots -->\n", "<!-- end -->\n"

ORIGINAL = "The meeting is on 5 May at 10:00 in room 12. Please bring the report for Ms Okafor."
VERSION = "The meeting is on 5 May in room 12. Bring the report."
TASK = "Make it shorter. Keep the facts."
THOUGHT = Thought(
    prompt=TASK,
    text=VERSION,
    run_id="run_0123456789abcdef",
    iteration=1,
    pre_generation_context=(Document(id="d", title="Rooms", text="Room 12 has 8 seats."),),
    validation_results={
        "length": ValidationResult(
            validator="length", passed=False, score=0.9, message="11 words, at most 10 are allowed"
        )
    },
    findings=Findings(differences=(Difference(id="d1", kind="date", before="10:00"),)),
    lessons=("Name the time of every meeting.",),
    metadata={"original": ORIGINAL},
)
CRITICISED = THOUGHT.add_critic_feedback(
    CriticFeedback(
        critic="self_refine",
        verdict="revise",
        issues=(Issue.at(VERSION, 18, 23, "the time 10:00 is lost", fix="5 May at 10:00"),),
    )
)
UNCHECKED = THOUGHT.model_copy(update={"validation_results": {}})
SOURCE = SourceDocument(
    id="d",
    text="The tower is 330 metres high.",
    title="Heights",
    url="https://example.org/heights",
    adapter="wiki",
    retrieved_at=datetime(2026, 1, 31, tzinfo=UTC),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request to a model."""

    instructions: str
    question: str
    form: Mapping[str, Any] | None
    """The parameters of the tool to answer with; None for an answer in words."""

    @property
    def tokens(self) -> int:
        """Of the instructions, estimated."""
        return math.ceil(len(self.instructions) / CHARACTERS_PER_TOKEN)


class _Recorder:
    """A model that answers every form and keeps the questions."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.model = provider_model(FunctionModel(self._answer, model_name="any"))

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        request = messages[0]
        assert isinstance(request, ModelRequest)
        tool = info.output_tools[0] if info.output_tools else None
        self.sent.append(
            Sent(
                instructions=info.instructions or "",
                question="".join(str(getattr(part, "content", "")) for part in request.parts),
                form=None if tool is None else tool.parameters_json_schema,
            )
        )
        if tool is None:
            return ModelResponse([TextPart("A text.")])
        wanted = tool.parameters_json_schema["properties"]
        return ModelResponse([ToolCallPart("answer", {n: _ANSWERS[n] for n in wanted})])


_ISSUE = {"quote": "in room 12", "message": "The time is lost: write `at 10:00 in room 12`."}
_ANSWERS: Mapping[str, Any] = {
    "issues": [_ISSUE], "suggestions": [], "scores": {}, "verdict": "revise", "confidence": 1,
    "reason": "", "better": "first", "reflection": "a lesson", "quotes": [], "label": "formal",
    "claims": [{"quote": "The meeting is on 5 May", "claim": "It is on 5 May.", "need": 1}],
    "passages": [{"passage": 1, "relevant": 1, "full": 1, "partial": 0, "none": 0}],
    "usefulness": 5,
    "judgements": [], "queries": ["a", "b"], "criteria": [], "observations": "a",
    "research_complete": True, "gaps": [], "tasks": [{"query": "a"}], "text": "a", "title": "a",
    "sections": [{"title": "a", "question": "a"}], "summary": "a", "report": {"grade": 1},
    "question": "a", "mode": "deep", "should_continue": True, "section": "a", "edits": [],
    "covered": [], "same": [], "message": "a", "severity": 3,
}  # fmt: skip


def _cases(to: _Recorder) -> Iterator[tuple[str, Prompt, Callable[[], Awaitable[object]]]]:
    """The name of each prompt, the prompt, and work by which it is sent."""
    binding, model = Binding(model=to.model), to.model

    def critique(critic: Any, thought: Thought = UNCHECKED) -> Callable[[], Awaitable[object]]:
        return lambda: critic.bind(binding).critique(thought)

    yield "writer", writing.PROMPT, lambda: DirectModel(model).generate_with_thought(CRITICISED)
    yield "self_refine", self_refine.PROMPT, critique(self_refine.SelfRefineCritic())
    rubric = prompt.PromptCritic(rubric="It is polite. It names a person to ask.")
    yield "prompt", prompt.PROMPT, critique(rubric)
    reflexive = reflexion.ReflexionCritic()
    yield "reflexion: evaluation", reflexion.EVALUATE, critique(reflexive)
    yield "reflexion: lesson", reflexion.REFLECT, critique(reflexive, THOUGHT)
    yield "constitutional", constitutional.PROMPT, critique(constitutional.ConstitutionalCritic())
    consistent = self_consistency.SelfConsistencyCritic()
    yield "self_consistency", self_consistency.PROMPT, critique(consistent)
    yield "self_consistency: joining", self_consistency.JOIN_PROMPT, critique(consistent)
    rewarding = meta_rewarding.MetaRewardingCritic(n=2)
    yield "meta_rewarding: judgment", meta_rewarding.PROMPT, critique(rewarding)
    yield "meta_rewarding: comparison", meta_rewarding.META_PROMPT, critique(rewarding)
    yield "n_critics", n_critics.PROMPT, critique(n_critics.NCriticsCritic())
    yield "self_rag", self_rag.PROMPT, critique(self_rag.SelfRAGCritic())
    judge = version_comparison.ModelJudge(model)
    other = THOUGHT.model_copy(update={"text": "The meeting: 5 May, 10:00, room 12."})
    yield "judge", version_comparison.PROMPT, lambda: judge.compare(THOUGHT, other)
    yield "claims", extraction.PROMPT, lambda: extraction.claims_in(VERSION, model, task=TASK)
    words = {"claim": "It is 330 metres tall.", "title": "The tower", "passage": VERSION}
    yield (
        "claims: second question",
        comparison.PROMPT,
        lambda: comparison.asked_again(["\n\n".join(starmap(frame, words.items()))], model),
    )
    yield "evidence: plan", pipeline.PROMPT, lambda: pipeline.plan("How tall is the tower?", model)
    criterion = Criterion(id="height", name="height", description="It says how tall the tower is.")
    asked = verify.verifications(
        [[verify.Sheet(SOURCE, [criterion])]], question="How tall is the tower?", model=model
    )
    yield "evidence: verification", verify.PROMPT, asked["documents 0"]
    yield from _research(model)


def _research(model: Any) -> Iterator[tuple[str, Prompt, Callable[[], Awaitable[object]]]]:
    question, found = "How did the tower come about?", "[1] “It was built from 1887 to 1889.”"
    stock = "It was finished in 1889."
    asked: dict[ResearchAgent[Any], str] = {
        agents.PARSER: agents.parser_prompt("And who built it?"),
        agents.THINKING: agents.thinking_prompt(question, 1, past="", findings=found),
        agents.KNOWLEDGE_GAP: agents.gap_prompt(question, observations=stock, findings=found),
        agents.SHOULD_CONTINUE: agents.continue_prompt(
            question, gaps=["Who built it?"], findings=found, past=""
        ),
        agents.TOOL_SELECTOR: agents.selector_prompt(
            question, gaps=["Who built it?"], adapters=["wiki"], past=""
        ),
        agents.WRITER: agents.writer_prompt(
            "Construction", question, findings=found, observations=stock, part_of=""
        ),
        agents.PLANNER: agents.planner_prompt(question, 5),
        agents.LONG_WRITER: agents.long_writer_prompt(
            question,
            outline=["Construction", "Use"],
            before="It was built from 1887 to 1889.",
            title="Use",
            draft="Built until 1889, it carries aerials [2].",
        ),
        agents.SYNTHESIZER: agents.synthesizer_prompt(question, "## Construction\n\nBuilt [1]."),
    }
    for agent, text in asked.items():
        yield f"research: {agent.name}", agent.prompt, partial(consult, agent, model, text)


def recorded() -> dict[str, tuple[Prompt, Sent]]:
    """Every prompt by its name, with one request that was made with it."""
    return anyio.run(_recorded)


async def _recorded() -> dict[str, tuple[Prompt, Sent]]:
    found: dict[str, tuple[Prompt, Sent]] = {}
    calls = Calls(ledger=Ledger(Budget(), Usage()), frame_key="a secret of the run")
    with calls.active():
        for name, each, work in _cases(recorder := _Recorder()):
            recorder.sent.clear()
            with scope("1"), scope(name):
                await work()
            of_it = [sent for sent in recorder.sent if sent.instructions == each.text]
            found[name] = (each, min(of_it, key=lambda sent: sent.question))  # asked together
    return found


def rendered() -> str:
    """The generated part of the page."""
    made = recorded()
    lines = [f"These are the prompts of version {PROMPTS_VERSION}.", ""]
    lines += ["| Prompt | Use | Instructions |", "|---|---|---|"]
    for name, (each, sent) in made.items():
        lines.append(f"| [{name}](#{_anchor(name)}) | {each.purpose} | {sent.tokens} tokens |")
    forms: dict[str, str] = {}
    for name, (_, sent) in made.items():
        lines += ["", f"## {name}", "", "Instructions:", "", *_block(sent.instructions)]
        lines += ["", "Question:", "", *_block(sent.question), ""]
        lines += _answer_of(sent, name, forms)
    return "\n".join(lines) + "\n"


def _answer_of(sent: Sent, name: str, forms: dict[str, str]) -> list[str]:
    """The form of the answer; one that was shown before only by the name of its prompt."""
    if sent.form is None:
        return ["The answer is the text itself."]
    form = _compact(sent.form)
    first = forms.setdefault(form, name)
    if first != name:
        return [f"The form of the answer is that of [{first}](#{_anchor(first)})."]
    return ["The form of the answer:", "", *_block(form)]


def _anchor(heading: str) -> str:
    return heading.replace(":", "").replace(" ", "-")


def _block(text: str) -> list[str]:
    return ["```text", *text.splitlines(), "```"]


def _compact(schema: Mapping[str, Any]) -> str:
    """A schema with a line for each property."""
    forms = {**schema.get("$defs", {}), "the answer": schema}
    lines: list[str] = []
    for name, form in forms.items():
        lines.append(f"{name}: {form.get('description', '')}")
        for field, told in form["properties"].items():
            shown = {key: value for key, value in told.items() if key != "title"}
            needed = " (required)" if field in form.get("required", ()) else ""
            lines.append(f"  {field}{needed}: {json.dumps(shown, ensure_ascii=False)}")
    return "\n".join(lines)


def put_into(page: str) -> str:
    """The page with its generated part as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{rendered()}\n{END}{after}"
