"""The ways to have a model do a task, each with as many calls as the others."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from benchmarks.prompts.cases import Case
from sifaka import Budget, Chain
from sifaka.models.provider import Connections

_WRITER = "You write and revise texts. Answer with the complete text and nothing else."
_REVIEWER = "You review texts. Say in a few short points what to change, and why."
OLD_SIFAKA = Path(".venv-sifaka-0.2/bin/python")
"""The Python of the environment that has the public Sifaka 0.2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one contender works on one case."""

    url: str
    """The provider's, without `/v1`."""
    case: Case
    calls: int
    """The most that it may make."""


Contender = Callable[[Place], Awaitable[str]]
"""Does the task of a case; returns the text."""


async def one_shot(place: Place) -> str:
    """The first answer to the text and its task."""
    return await _write(place, _asked(place.case))


async def naive_loop(place: Place) -> str:
    """Self-Refine without a gate: text, critique, revision; the last version counts."""
    text = await one_shot(place)
    for _ in range((place.calls - 1) // 2):
        about = f"{_asked(place.case)}\n\nA first version:\n\n{text}"
        feedback = await _chat(place, _REVIEWER, f"{about}\n\nWhat should be changed?")
        text = await _write(place, f"{about}\n\nFeedback:\n\n{feedback}\n\nWrite it again.")
    return text


async def best_of_n(place: Place) -> str:
    """As many first answers as there are calls; the first that fails the fewest checks."""
    drafts = [await one_shot(place) for _ in range(place.calls)]
    failed = [sum(not v.passed for v in await place.case.verdicts(draft)) for draft in drafts]
    return drafts[failed.index(min(failed))]


def ours(**options: Any) -> Contender:
    """A chain with these options."""

    async def run(place: Place) -> str:
        async with Connections() as connections:
            provider = OpenAIProvider(base_url=f"{place.url}/v1", api_key="none")
            chain = Chain(
                model=OpenAIChatModel("model", provider=provider),
                validators=place.case.validators,
                budget=Budget(max_calls=place.calls),
                connections=connections,
                **options,
            )
            return (await chain.run(place.case.task, text=place.case.text)).text

    return run


class OldSifaka:
    """The public Sifaka 0.2 with its critic `self_refine`: two calls a round, the last version."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def __call__(self, place: Place) -> str:
        """The text that it returns."""
        told = {"text": place.case.text, "task": place.case.task, "url": place.url}
        async with self._lock:
            if self._process is None:
                program = Path(__file__).with_name("old_sifaka.py")
                self._process = await asyncio.create_subprocess_exec(
                    *(OLD_SIFAKA, "-P", program, str(place.calls // 2)),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                )
            to, back = self._process.stdin, self._process.stdout
            assert to is not None
            assert back is not None
            to.write(json.dumps(told).encode() + b"\n")
            said = json.loads(await back.readline())
        if "error" in said:
            raise RuntimeError(said["error"])
        return said["text"]


CONTENDERS: Mapping[str, Contender] = {
    "one shot": one_shot,
    "naive loop": naive_loop,
    "best of n": best_of_n,
    "Sifaka": ours(),
    "Sifaka 0.2": OldSifaka(),
}


def _asked(case: Case) -> str:
    return f"{case.task}\n\n{case.text}"


async def _write(place: Place, question: str) -> str:
    return (await _chat(place, _WRITER, question)).strip()


async def _chat(place: Place, system: str, question: str) -> str:
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    async with httpx2.AsyncClient(timeout=None) as client:
        body = {"model": "model", "messages": messages}
        response = await client.post(f"{place.url}/v1/chat/completions", json=body)
        response.raise_for_status()
        return response.json()["choices"][0]["message"]["content"] or ""
