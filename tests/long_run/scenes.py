"""What happens to a run that takes long, between real servers over a real Redis."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import redis
from mcp import Client

from tests.stubs.provider import Provider, Reply, provider, says
from tests.stubs.redis_server import redis_server
from tests.stubs.servers import http_server

CALLS = 6
"""Model calls of a run: each writes a version that is a word shorter, the last one passes."""
WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
COLD = 10
"""Seconds that a server may take to load what its first run needs."""
SHORTEST = len(WORDS) - CALLS


@dataclass(kw_only=True)
class Log:
    """What happens, printed, and what went wrong."""

    began: float = field(default_factory=time.monotonic)
    problems: int = 0

    def tell(self, what: str) -> None:
        """Print what has happened, with its second."""
        sys.stdout.write(f"  {time.monotonic() - self.began:7.1f} s  {what}\n")
        sys.stdout.flush()

    def expect(self, what: str, holds: bool) -> None:
        """Print whether something holds that has to."""
        self.problems += not holds
        self.tell(f"{'ok' if holds else 'PROBLEM'}: {what}")


@dataclass(kw_only=True)
class Scene(Log):
    """Two servers, and a provider that takes its time."""

    wait: float
    served: Provider
    port: int
    """Of the Redis server."""
    urls: list[str]
    processes: list[subprocess.Popen[str]]

    async def begin(self) -> dict[str, Any]:
        """Start the run on the first server; the answer that says that it goes on."""
        async with Client(self.urls[0]) as client:
            await call(client, "improve_text", text="What is loaded once.", model="editor")
            asked = time.monotonic()
            begun = await call(
                client,
                "improve_text",
                text=" ".join(WORDS),
                validators=[{"type": "length", "max_words": SHORTEST}],
                critics=[],
                max_iterations=CALLS,
                wait_seconds=self.wait,
            )
            took = time.monotonic() - asked
        in_time = self.wait <= took < self.wait + COLD
        self.expect(f"answered `{begun['status']}` after {took:.1f} s", in_time)
        while not self.served.requests:  # noqa: ASYNC110 - the stub tells nobody
            await anyio.sleep(0.05)
        return begun

    def worker_of(self, run_id: str) -> int:
        """The process that works on a run."""
        task = f"sifaka:run:{{default}}:work:runs:{run_id}@default"
        with redis.Redis(port=self.port, decode_responses=True) as client:
            name = client.hget(task, "worker")
        assert isinstance(name, str), "no process works on it"
        return int(name.split("#")[-2])

    def repeated(self) -> int:
        """How many questions were asked more than once."""
        asked = [repr(request["messages"]) for request in self.served.requests]
        return len(asked) - len(set(asked))


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool."""
    result = await client.call_tool(tool, arguments, read_timeout_seconds=3600)
    if result.is_error or result.structured_content is None:
        raise RuntimeError(f"{tool} answered {result.content}")
    return result.structured_content


@asynccontextmanager
async def scene(*, seconds: float, wait: float, silence: float) -> AsyncGenerator[Scene]:
    """Everything that is needed, started; a run takes so many seconds."""
    replies = [
        replace(says(" ".join(WORDS[: len(WORDS) - number])), seconds=seconds / CALLS)
        for number in range(1, CALLS + 1)
    ]
    # One more, should a call be asked again.
    replies.append(Reply(body=replies[-1].body, seconds=seconds / CALLS))
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        served = stack.enter_context(provider(replies))
        shared = stack.enter_context(redis_server(appendfsync="everysec"))
        servers = [
            stack.enter_context(
                http_server(
                    folder / name,
                    SIFAKA_STORE=shared.url,
                    SIFAKA_MODEL="openai-chat:stub",
                    SIFAKA_TAKEOVER_SECONDS=f"{silence:g}",
                    OPENAI_API_KEY="sk-test-key",
                    OPENAI_BASE_URL=served.url,
                )
            )
            for name in ("first", "second")
        ]
        yield Scene(
            wait=wait,
            served=served,
            port=shared.port,
            urls=[url for url, _ in servers],
            processes=[process for _, process in servers],
        )


async def finishing(scene: Scene) -> None:
    """It is answered, progresses and finishes, and another server tells its end."""
    begun = await scene.begin()
    told: list[tuple[float, float | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total))
        scene.tell(f"progress {progress:g} of {total:g}: {message}")

    async with Client(scene.urls[1]) as other:
        result = await other.call_tool(
            "resume_run",
            {"run_id": begun["run_id"], "wait_seconds": 3600},
            progress_callback=listen,
            read_timeout_seconds=3600,
        )
        ended: dict[str, Any] = result.structured_content or {}
        history = await call(other, "get_thought_history", run_id=begun["run_id"])
    values = [progress for progress, _ in told]
    scene.expect(f"it is {ended['status']}: {ended['text']!r}", ended["status"] == "done")
    scene.expect("progress rose to its total", values == sorted(set(values)) and told != [])
    scene.tell(f"{len(history['thoughts'])} versions in the history of the other server")
    scene.expect(f"{len(scene.served.requests)} model calls", len(scene.served.requests) == CALLS)


async def taken_over(scene: Scene) -> None:
    """Its worker is killed in the middle of a call; the other server goes on."""
    begun = await scene.begin()
    victim = scene.worker_of(begun["run_id"])
    (survivor,) = (n for n, process in enumerate(scene.processes) if process.pid != victim)
    async with Client(scene.urls[survivor]) as other:
        before = await call(other, "get_thought_history", run_id=begun["run_id"])
        os.kill(victim, signal.SIGKILL)
        killed = time.monotonic()
        scene.tell(f"worker killed after {len(before['thoughts'])} versions")
        ended = await call(other, "resume_run", run_id=begun["run_id"], wait_seconds=3600)
    took = time.monotonic() - killed
    scene.expect(f"it is {ended['status']} {took:.1f} s after the kill", ended["status"] == "done")
    scene.expect(
        f"{scene.repeated()} calls were asked again: the one that was under way",
        scene.repeated() <= 1,
    )
    charged = ended["usage"]["model_calls"]
    scene.expect(f"{charged} calls are on its account", charged <= len(scene.served.requests))


async def cancelled(scene: Scene) -> None:
    """The other server cancels it in the middle of a call."""
    begun = await scene.begin()
    async with Client(scene.urls[1]) as other:
        asked = time.monotonic()
        ended = await call(other, "cancel_run", run_id=begun["run_id"])
        told = time.monotonic() - asked
        await scene.served.deserted()
        stopped = time.monotonic() - asked
        best = await call(other, "get_thought_history", run_id=begun["run_id"])
    scene.expect(f"answered `{ended['status']}` after {told:.2f} s", ended["status"] == "cancelled")
    scene.expect(f"the worker gave up its model call after {stopped:.2f} s", stopped < 1)
    kept = [t["thought_id"] for t in best["thoughts"] if t["accepted"]][-1]
    scene.expect("the best version is kept", kept == ended["thought_id"])


SCENES = {"finishing": finishing, "taken over": taken_over, "cancelled": cancelled}
