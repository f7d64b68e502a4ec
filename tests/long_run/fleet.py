"""Many short runs in one queue: servers and workers that are killed, and workers that add up."""

import os
import re
import signal
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import ExitStack, aclosing
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from sifaka import Chain
from sifaka.record.run import Run
from sifaka.storage import open_store
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.runs.queue import RunQueue
from sifaka_mcp.runs.service import RunKey
from tests.long_run.scenes import Log, call
from tests.stubs.provider import Gate, Reply, provider, says
from tests.stubs.redis_server import redis_server
from tests.stubs.servers import http_server, idle_queue, worker

ANSWER = 0.05
"""Seconds that a model call takes."""
CALLS = 3
"""Model calls of a run."""
RUNS = 200
SERVERS, WORKERS = 3, 2
AT_ONCE = 24
"""Runs that all servers and workers together work on."""
SILENCE = 3.0
"""Seconds after which a worker is taken for dead."""
SCALED_RUNS, SCALED_AT_ONCE = 48, 2
"""So few at once that a worker waits for the model most of the time."""
SCALING = 1.7
_LIMIT = 240
_NUMBER = re.compile(r"run(\d+)x")


class Model:
    """A stub model that writes a word less at each call, and remembers what it was asked when."""

    def __init__(self) -> None:
        self.asked: dict[str, dict[str, list[float]]] = defaultdict(dict)
        """By the text's own word, each question and when it came."""
        self.count = 0
        self.enough = threading.Event()
        self.gate = Gate()
        """Where the first answers wait until all runs are begun."""
        self._enough_at = RUNS * CALLS // 3

    def reply(self, request: dict[str, Any]) -> Reply:
        """The answer to a question; the same one to the same question."""
        question = repr(request["messages"])
        found = _NUMBER.search(question)
        assert found is not None, "every text has a word of its own"
        asked = self.asked[found.group()]
        asked.setdefault(question, []).append(time.time())
        self.count += 1
        if self.count >= self._enough_at:
            self.enough.set()
        words = _text(found.group()).split()
        left = len(words) - 1 - list(asked).index(question)
        body = says(" ".join(words[:left])).body
        return Reply(body=body, seconds=ANSWER, gate=self.gate)

    def repeated(self, run: Run) -> tuple[int, int]:
        """Questions of a run that were asked again: all, and those whose answer was on record."""
        found = _NUMBER.search(run.original.text if run.original else "")
        assert found is not None
        times = list(self.asked[found.group()].values())
        on_record = [called.at.timestamp() for called in run.calls]
        again = sum(len(each) - 1 for each in times)
        finished = sum(
            asked > answered
            for each, answered in zip(times, on_record, strict=False)
            for asked in each
        )
        return again, finished


def _text(word: str) -> str:
    return " ".join([word, *"abcdef"[: CALLS + 1]])


_RULES = [{"type": "length", "max_words": 2}]


async def drained(log: Log) -> None:
    """A queue longer than 3 servers and 2 workers can take drains, though two are killed."""
    model = Model()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        more = _settings(stack, model, SIFAKA_MAX_RUNS=str(AT_ONCE))
        servers = [
            stack.enter_context(http_server(folder / f"server{n}", **more)) for n in range(SERVERS)
        ]
        workers = [
            stack.enter_context(worker(folder / f"worker{n}", "--concurrency", "8", **more))
            for n in range(WORKERS)
        ]
        began = time.monotonic()
        run_ids: list[str] = []
        runs: list[Run] = []
        refused: list[str] = []
        async with anyio.create_task_group() as group:
            for number, (url, _) in enumerate(servers):
                group.start_soon(_begin, url, range(number, RUNS, SERVERS), run_ids, refused)
        log.expect(f"{len(run_ids)} runs begun, {len(refused)} refused", len(run_ids) == RUNS)
        log.expect(f"{model.count} of them are worked on, the others wait", model.count <= AT_ONCE)
        model.gate.open()
        await anyio.to_thread.run_sync(model.enough.wait, _LIMIT)
        for process in (workers[0], servers[0][1]):
            os.kill(process.pid, signal.SIGKILL)
        log.tell(f"one worker and one server killed after {model.count} model calls")
        store = open_store(more["SIFAKA_STORE"], home=folder)
        with anyio.move_on_after(_LIMIT):
            for run_id in run_ids:
                runs.append(await _end_of(store, run_id))  # noqa: PERF401 - those there are
        took = time.monotonic() - began
        await store.aclose()
    log.expect(
        f"{sum(run.status == 'done' for run in runs)} of {RUNS} runs done after {took:.1f} s",
        len(runs) == RUNS and all(run.status == "done" for run in runs),
    )
    again = [model.repeated(run) for run in runs]
    lost, finished = (sum(counts) for counts in zip(*again, strict=True))
    log.expect(f"{finished} calls were repeated whose answer was on record", finished == 0)
    log.expect(f"{lost} were that were under way at a kill", lost <= AT_ONCE)


async def scaled(log: Log) -> None:
    """Two workers do twice the work of one, as long as the model is the limit."""
    rates = {number: await _rate(number) for number in (1, 2)}
    told = ", ".join(f"{number}: {rate:.1f} runs/s" for number, rate in rates.items())
    factor = rates[2] / rates[1]
    log.expect(f"workers of {SCALED_AT_ONCE} at once, {told}; {factor:.2f} x", factor >= SCALING)


async def _rate(count: int) -> float:
    model = Model()
    model.gate.open()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        more = _settings(stack, model)
        for number in range(count):
            options = ("--concurrency", str(SCALED_AT_ONCE))
            stack.enter_context(worker(folder / f"worker{number}", *options, **more))
        store = open_store(more["SIFAKA_STORE"], home=folder)
        async with idle_queue(more["SIFAKA_STORE"], "sifaka:run:{default}:work") as queue:
            await _work(store, queue, await _begun(store, range(1000, 1000 + 4 * count)))
            runs = await _begun(store, range(SCALED_RUNS))
            began = time.monotonic()  # what is loaded once is loaded
            await _work(store, queue, runs)
            took = time.monotonic() - began
        await store.aclose()
    return SCALED_RUNS / took


async def _begun(store: ThoughtStore, numbers: range) -> list[Run]:
    """Runs that nobody works on yet."""
    chain = Chain(
        model="openai-chat:stub", validators=_RULES, critics=[], max_iterations=CALLS, store=store
    )
    return [(await chain.start(text=_text(f"run{number}x"))).run for number in numbers]


async def _work(store: ThoughtStore, queue: RunQueue, runs: list[Run]) -> None:
    """Have the workers do these runs."""
    for run in runs:
        await queue.add(RunKey("default", run.run_id))
    with anyio.fail_after(_LIMIT):
        for run in runs:
            await _end_of(store, run.run_id)


def _settings(stack: ExitStack, model: Model, **more: str) -> dict[str, str]:
    served = stack.enter_context(provider(model.reply))
    redis = stack.enter_context(redis_server(appendfsync="everysec"))
    # Chains that are made in this process have it checked whether there is a key.
    os.environ["OPENAI_API_KEY"] = "sk-test-key"
    return more | {
        "SIFAKA_STORE": redis.url,
        "SIFAKA_MODEL": "openai-chat:stub",
        "SIFAKA_TAKEOVER_SECONDS": f"{SILENCE:g}",
        "SIFAKA_RATE_LIMIT": "100000/second",
        "OPENAI_API_KEY": "sk-test-key",
        "OPENAI_BASE_URL": served.url,
    }


async def _begin(url: str, numbers: range, run_ids: list[str], refused: list[str]) -> None:
    async with Client(url) as client:
        for number in numbers:
            try:
                begun = await call(
                    client,
                    "improve_text",
                    text=_text(f"run{number}x"),
                    validators=_RULES,
                    critics=[],
                    max_iterations=CALLS,
                    wait_seconds=0,
                )
            except RuntimeError as error:
                refused.append(str(error))
            else:
                run_ids.append(begun["run_id"])


async def _end_of(store: ThoughtStore, run_id: str) -> Run:
    async with aclosing(store.follow(run_id)) as steps:
        async for _, run in steps:
            if run.status != "running":
                return run
    raise AssertionError("it ends with a run that has stopped")


FLEETS = {"drained": drained, "scaled": scaled}
