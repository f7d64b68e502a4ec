"""A run at whose desk research is done: on a real store, with a model that answers by a script."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sifaka.calls.context import Calls, Journal, scope
from sifaka.calls.ledger import Ledger
from sifaka.chain.recorder import Recorder
from sifaka.evidence.sources.collection import Adapter, Adapters
from sifaka.models.prompt import contents
from sifaka.record.entries import ChainConfig, Researched, Started
from sifaka.record.research_question import Inquiry, ResearchStep
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget
from sifaka.research.researcher import GraphResearcher
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from tests.sifaka.critics.scripted_judge import Answer, Asked, ScriptedJudge
from tests.sifaka.evidence.scripted_adapter import ScriptedAdapter, page
from tests.stubs.judged_documents import judgements

QUESTION = "How did the lamps of the coast change?"


@dataclass
class Told:
    """The events that a desk was told, without those on record."""

    step: ResearchStep
    message: str
    section: int | None


@dataclass
class PlainDesk:
    """A desk over a recorder."""

    recorder: Recorder
    told: list[Told] = field(default_factory=list[Told])
    before: Callable[[Researched], None] | None = None
    """Called with each step before it is put on record."""

    @property
    def run(self) -> Run:
        return self.recorder.run

    async def record(self, entry: Researched) -> None:
        if self.before is not None:
            self.before(entry)
        await self.recorder.store(entry)

    async def tell(self, step: ResearchStep, message: str, *, section: int | None = None) -> None:
        self.told.append(Told(step, message, section))


@dataclass
class Bench:
    """One run: it may be worked on any number of times, as after a crash."""

    question: str = QUESTION
    budget: Budget = field(default_factory=Budget)
    store: ThoughtStore = field(default_factory=MemoryStorage)
    inquiry: Inquiry = field(default_factory=lambda: Inquiry(mode="iterative"))
    run_id: str = ""
    clock: Callable[[], float] = time.monotonic
    ledger: Ledger | None = None
    """Of the last work."""
    desk: PlainDesk | None = None

    async def research(
        self,
        judge: ScriptedJudge | None,
        *adapters: Adapter,
        before: Callable[[Researched], None] | None = None,
        failures: int = 0,
        researcher: GraphResearcher | None = None,
        **options: Any,
    ) -> Thought:
        """Work on the run, from its beginning or from where it stands in the store."""
        if not self.run_id:
            started = Started(
                prompt=self.question,
                config=ChainConfig(inquiry=self.inquiry, budget=self.budget),
                frame_key="a secret",
            )
            run = Run.start(started)
            await self.store.append(run, [started], expected_version=0, fence=0)
            self.run_id = run.run_id
        run = await self.store.load(self.run_id)
        run = run.model_copy(update={"failures": failures})
        self.ledger = Ledger(self.budget, run.usage, clock=self.clock)
        recorder = Recorder(self.store, run, self.ledger, fence=0)
        self.desk = PlainDesk(recorder, before=before)
        calls = Calls(
            ledger=self.ledger,
            journal=Journal(run.calls, recorder.record_call),
            frame_key=run.frame_key,
        )
        model = None if judge is None else judge.model
        researcher = researcher or GraphResearcher(self.inquiry, Adapters(adapters), model)
        place = f"research~{failures}" if failures else "research"
        with calls.active(), scope(place):
            return await researcher.research(self.desk, **options)

    async def stored(self) -> Run:
        return await self.store.load(self.run_id)

    @property
    def steps(self) -> list[tuple[str, int | None]]:
        assert self.desk is not None
        return [(each.step, each.section) for each in self.desk.run.research]


class Scholar:
    """A model that researches: each agent answers by its own function, or as it usually does."""

    def __init__(self, **answers: Callable[[Asked], Answer]) -> None:
        self._answers = answers
        self.judge = ScriptedJudge(self._answer)

    @property
    def asked(self) -> list[Asked]:
        return self.judge.asked

    def of(self, agent: str) -> list[Asked]:
        """A question to one agent."""
        return [each for each in self.judge.asked if agent_of(each) == agent]

    def _answer(self, asked: Asked) -> Answer:
        agent = agent_of(asked)
        return self._answers.get(agent, USUAL[agent])(asked)


def agent_of(asked: Asked) -> str:
    """The agent that asks, by the form it wants filled in."""
    (agent,) = [name for name, fields in _FORMS.items() if fields == asked.fields]
    return agent


_FORMS: Mapping[str, frozenset[str]] = {
    "planner": frozenset({"title", "sections"}),
    "thinking": frozenset({"observations"}),
    "parser": frozenset({"question", "mode"}),
    "knowledge_gap": frozenset({"research_complete", "gaps"}),
    "should_continue": frozenset({"should_continue", "reason"}),
    "long_writer": frozenset({"section"}),
    "tool_selector": frozenset({"tasks"}),
    "verifier": frozenset({"judgements"}),
    "writer": frozenset({"text"}),
    "synthesizer": frozenset({"summary"}),
}


def think(asked: Asked) -> Answer:
    return {"observations": f"Seen {asked.question.count('[')} marks."}


def complete_after(rounds: int) -> Callable[[Asked], Answer]:
    """A judge of gaps that is content once there are so many findings."""

    def look(asked: Asked) -> Answer:
        if f"[{rounds}]" in asked.question:
            return {"research_complete": True, "gaps": []}
        return {"research_complete": False, "gaps": ["what lamps burned"]}

    return look


def agree(asked: Asked) -> Answer:
    """A judge who sees no reason to search on where the researcher sees no gap."""
    return {"should_continue": "the researcher sees none" not in asked.question}


def keep(asked: Asked) -> Answer:
    """A long writer who leaves each section as it was drafted."""
    return {"section": contents(asked.question)[0]["draft"][0]}


def parse(asked: Asked) -> Answer:
    """The question as it was asked, for one answer."""
    return {"question": contents(asked.question)[0]["question"][0], "mode": "iterative"}


def select(asked: Asked) -> Answer:
    return {"tasks": [{"query": "lamps oil"}, {"query": "lamps gas"}]}


def support(asked: Asked) -> Answer:
    """Whatever the documents are, the last line of each is quoted in support."""
    return judgements(
        asked.question,
        lambda _id, _wanted, document: {
            "judgement": "support",
            "quotes": [document.strip().splitlines()[-1]],
        },
    )


def write(asked: Asked) -> Answer:
    """A sentence for each finding."""
    numbers = [
        line.partition("]")[0].strip("[")
        for line in asked.question.splitlines()
        if line.startswith("[")
    ]
    return {"text": " ".join(f"Statement {n} [{n}]." for n in numbers) or "Nothing."}


def summarize(asked: Asked) -> Answer:
    return {"summary": "In short, lamps changed [1]."}


def plan_of(*titles: str) -> Callable[[Asked], Answer]:
    sections = [{"title": title, "question": f"What of {title}?"} for title in titles]
    return lambda _: {"title": "The lamps", "sections": sections}


USUAL: Mapping[str, Callable[[Asked], Answer]] = {
    "planner": plan_of("Oil", "Gas", "Wires"),
    "thinking": think,
    "parser": parse,
    "knowledge_gap": complete_after(1),
    "should_continue": agree,
    "long_writer": keep,
    "tool_selector": select,
    "verifier": support,
    "writer": write,
    "synthesizer": summarize,
}


def shelf(**options: Any) -> ScriptedAdapter:
    """An adapter with one page for each query."""

    def find(query: str) -> Sequence[Any]:
        name = query.replace(" ", "-")
        return [page(name, f"Everything about {query}.\nIt is known that {query} were lit.")]

    return ScriptedAdapter(find, **options)


def told(thought: Thought, name: str = "research") -> Any:
    """The account that a report gives of its research."""
    return thought.metadata.get(name, ())
