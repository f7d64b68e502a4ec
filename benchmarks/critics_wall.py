"""Wall time of a run with a slow provider: critics at the same time, and one that is late."""

import os
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import anyio
from mcp import Client, StdioServerParameters
from pydantic_ai import Agent, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel

from benchmarks.report import Figure, Report
from benchmarks.samples import prose
from benchmarks.servers import ROOT, SIFAKA, environment, listening
from benchmarks.slow_provider import SLOW
from sifaka.chain import Chain
from sifaka.critics import CriticSpec
from sifaka.critics.judge import REVIEW, REVIEWER
from sifaka.critics.opinion import Opinion, case
from sifaka.models.prompt import DATA_NOTICE
from sifaka.models.provider import Connections
from sifaka.models.writing import PROMPT, writing_prompt
from sifaka.record.entries import Policy
from sifaka.record.run import ChainEvent
from sifaka.record.thought import Thought
from sifaka.storage import SQLiteStorage
from sifaka.storage.protocol import ThoughtStore

ANSWER = 0.2
SLOW_ANSWER = 2.0
DEADLINE = 0.5
CRITICS = 8
SAMPLES = 9
ROUNDS: dict[Policy, int] = {"last": 2, "best": 3}
"""Answers one after the other: critique and revision, and with `best` a critique of that."""
TEXT = prose(300)
"""It is improved without a task, so that the critics see it first."""
MODEL = "openai-chat:stub"
_RUBRICS = [f"Rubric {number}: it is clear to a reader of kind {number}." for number in range(7)]


def measure() -> Report:
    """Runs against a provider in another process, on loopback."""
    command = (sys.executable, "-m", "benchmarks.slow_provider", f"{ANSWER}", f"{SLOW_ANSWER}")
    with (
        tempfile.TemporaryDirectory() as name,
        listening(command, environment(name)) as url,
        provider_at(url),
    ):
        return anyio.run(_measure, Path(name), url, backend_options={"use_uvloop": True})


@contextmanager
def provider_at(url: str) -> Generator[None]:
    """Within this context, the provider at this URL answers in the place of OpenAI's."""
    given = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


async def _measure(folder: Path, url: str) -> Report:
    store = SQLiteStorage(folder / "runs.db")
    walls: dict[Policy, list[float]] = {policy: [] for policy in ROUNDS}
    bare: dict[Policy, list[float]] = {policy: [] for policy in ROUNDS}
    busy: list[float] = []
    late: list[float] = []
    served: list[float] = []
    async with Client(_server(folder, url)) as client, Connections() as connections:
        for _ in range(1 + SAMPLES):
            for policy, samples in walls.items():
                wall, processor = await _wall(store, connections, policy)
                samples.append(wall)
                if policy == "best":
                    busy.append(processor)
                bare[policy].append(await _bare_wall(ROUNDS[policy]))
            served.append(await _served_wall(client))
            late.append(await _critique_with_a_late_critic(store, connections))
    await store.aclose()
    ideal: dict[Policy, float] = {policy: rounds * ANSWER for policy, rounds in ROUNDS.items()}
    ours: dict[Policy, float] = {policy: median(samples[1:]) for policy, samples in walls.items()}
    theirs: dict[Policy, float] = {policy: median(samples[1:]) for policy, samples in bare.items()}
    through_server = median(served[1:])
    return Report(
        title="critics_wall: a run with 8 critics and a provider that answers after 200 ms",
        method=f"{CRITICS} critics of one call each and one revision, on SQLite; the provider is "
        "an OpenAI-compatible server in another process on loopback, its client kept open from run "
        f"to run as a server does. Median of {SAMPLES} runs after one to warm up, in turn with the "
        "same calls, each with its form and its text, by PydanticAI and its client alone. The "
        f"ideal is {ANSWER * 1000:.0f} ms for each answer that has to wait for the one before: 2 "
        "with policy `last`, 3 with `best`. `processor` is user and system time of the process. "
        "The same by improve_text through a server of its own on stdio, in turn with the rest. "
        f"Then one critic of the {CRITICS} takes {SLOW_ANSWER:g} s and the deadline is "
        f"{DEADLINE:g} s: time from the beginning of the critique to its entry.",
        figures=(
            *(figure for policy in ROUNDS for figure in _beside(policy, ours, theirs, ideal)),
            Figure(what="run, policy best: processor", value=median(busy[1:]) * 1000, unit="ms"),
            Figure(
                what="run through the server, policy best", value=through_server * 1000, unit="ms"
            ),
            Figure(
                what="run through the server, policy best / its calls by PydanticAI alone",
                value=through_server / theirs["best"],
                unit="x",
                most=1.10,
            ),
            Figure(what="critique with a late critic", value=median(late[1:]) * 1000, unit="ms"),
            Figure(
                what="critique with a late critic / deadline",
                value=median(late[1:]) / DEADLINE,
                unit="x",
                most=1.05,
            ),
        ),
    )


def _beside(
    policy: Policy,
    ours: Mapping[Policy, float],
    theirs: Mapping[Policy, float],
    ideal: Mapping[Policy, float],
) -> Iterator[Figure]:
    """The figures of a policy: a run of ours, and its calls by PydanticAI alone."""
    yield Figure(what=f"run, policy {policy}", value=ours[policy] * 1000, unit="ms")
    yield Figure(
        what=f"run, policy {policy} / its calls by PydanticAI alone",
        value=ours[policy] / theirs[policy],
        unit="x",
        most=1.10,
    )
    yield Figure(
        what=f"run, policy {policy} / ideal",
        value=ours[policy] / ideal[policy],
        unit="x",
        most=1.10,
    )
    yield Figure(
        what=f"its calls by PydanticAI alone, policy {policy} / ideal",
        value=theirs[policy] / ideal[policy],
        unit="x",
    )


def _chain(
    store: ThoughtStore,
    connections: Connections,
    policy: Policy,
    *rubrics: str,
    critic_deadline: float | None = None,
) -> Chain:
    return Chain(
        model=MODEL,
        critics=_critics(rubrics),
        policy=policy,
        max_iterations=1,
        store=store,
        connections=connections,
        critic_deadline=critic_deadline,
    )


def _server(folder: Path, url: str) -> StdioServerParameters:
    program, *arguments = SIFAKA
    env = environment(str(folder)) | {
        "SIFAKA_MODEL": MODEL,
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "none",
    }
    return StdioServerParameters(command=program, args=[*arguments], env=env, cwd=str(ROOT))


async def _served_wall(client: Client) -> float:
    """Seconds of a whole run through a server, as its client sees it."""
    arguments = {"text": TEXT, "critics": _critics(_RUBRICS), "max_iterations": 1}
    started = perf_counter()
    result = await client.call_tool("improve_text", arguments)
    taken = perf_counter() - started
    out = result.structured_content
    assert out is not None, result.content
    assert out["usage"]["model_calls"] == 1 + 2 * CRITICS, out["degraded"]
    return taken


def _critics(rubrics: Sequence[str]) -> list[CriticSpec]:
    critics: list[CriticSpec] = [
        "self_refine",
        *({"type": "prompt", "rubric": rubric} for rubric in rubrics),
    ]
    assert len(critics) == CRITICS
    return critics


async def _wall(
    store: ThoughtStore, connections: Connections, policy: Policy
) -> tuple[float, float]:
    """Seconds of a whole run, and of the processor for it."""
    chain = _chain(store, connections, policy, *_RUBRICS)
    started, began = perf_counter(), process_time()
    result = await chain.run(text=TEXT)
    taken = perf_counter() - started, process_time() - began
    assert result.status == "done", result.run.error
    assert result.usage.model_calls == 1 + CRITICS * (ROUNDS[policy] - 1)
    return taken


async def _bare_wall(rounds: int) -> float:
    """Seconds of the calls of a run, by PydanticAI and nothing else."""
    instructions = "\n\n".join((REVIEWER, *REVIEW, DATA_NOTICE))
    output = ToolOutput(Opinion, name="answer")
    async with OpenAIChatModel(MODEL.partition(":")[2]) as provider:
        critic = Agent(provider, output_type=output, instructions=instructions)
        writer = Agent(provider, instructions=PROMPT.text)
        asked = Thought(text=TEXT)
        started = perf_counter()
        for count in (CRITICS, 1, CRITICS)[:rounds]:
            async with anyio.create_task_group() as group:
                for _ in range(count):
                    agent, question = (
                        (critic, case(asked)) if count > 1 else (writer, writing_prompt(asked))
                    )
                    group.start_soon(agent.run, question)
        return perf_counter() - started


async def _critique_with_a_late_critic(store: ThoughtStore, connections: Connections) -> float:
    """Seconds from the beginning of the first critique to its entry."""
    chain = _chain(
        store, connections, "last", *_RUBRICS[1:], f"{SLOW} {_RUBRICS[0]}", critic_deadline=DEADLINE
    )
    marks: list[tuple[str, float]] = []

    async def mark(event: ChainEvent) -> None:
        marks.append((event.phase, perf_counter()))

    result = await chain.run(text=TEXT, listen=mark)
    heard = [thought.critic_feedback for thought in result.run.thoughts if thought.critic_feedback]
    assert heard[0][-1].status == "abstained", heard
    return next(
        later - earlier for (phase, earlier), (_, later) in pairwise(marks) if phase == "critique"
    )
