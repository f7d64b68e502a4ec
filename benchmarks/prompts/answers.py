"""A provider on loopback in front of the model, which keeps each answer in a file.

So a measurement that was broken off goes on where it was, and all contenders have the same model,
temperature, length of answers and random seeds: equal questions get equal answers.
"""

import json
import re
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from socket import create_server
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from benchmarks.prompts.cases import Case
from tests.stubs.served import in_thread

_RANDOM = re.compile(r"\b[0-9a-f]{12,64}\b")
"""Marks that a prompt has anew each time; the question is the same without them."""
_PARTS = ("messages", "tools", "tool_choice", "response_format")
_PATIENCE = 1800.0
"""Seconds for one answer."""


class Answers:
    """The answers of a model by their questions.

    Args:
        url: The provider of the model, such as `http://127.0.0.1:8080/v1`.
        model: The model's name there.
        file: Where the answers are kept, one JSON object a line.
        longest: Tokens of an answer at most.
        key: The provider's key.
    """

    def __init__(self, url: str, model: str, file: Path, *, longest: int, key: str = "") -> None:
        self._url, self._model, self._file, self._longest = url, model, file, longest
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        self._kept: dict[str, dict[str, Any]] = {}
        if file.exists():
            lines = file.read_text(encoding="utf-8").splitlines()
            self._kept = {kept["key"]: kept for kept in map(json.loads, lines)}
        self._asked: Counter[tuple[str, str]] = Counter()
        self.calls: Counter[str] = Counter()
        """The calls of each place, whether their answers were kept or not."""
        self.asked_anew = 0
        """The answers that the model was asked for by this process."""

    async def answer(self, place: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The HTTP status and the answer for a question at a place, such as one run.

        A question that is asked again at the same place gets another answer.
        """
        question = json.dumps(
            [self._model, self._longest, *(body.get(part) for part in _PARTS)], sort_keys=True
        )
        marks = list(dict.fromkeys(_RANDOM.findall(question)))
        plain = _RANDOM.sub("#", question)
        self._asked[place, plain] += 1
        self.calls[place] += 1
        key = sha256(f"{self._asked[place, plain]} {plain}".encode()).hexdigest()
        kept = self._kept.get(key)
        if kept is None:
            status, answer = await self._ask(body, seed=int(key[:7], 16))
            if status != 200:
                return status, answer
            kept = {"key": key, "marks": marks, "answer": answer}
            self._kept[key] = kept
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(kept, ensure_ascii=False) + "\n")
        now = dict(zip(kept["marks"], marks, strict=False))
        written = json.dumps(kept["answer"])
        return 200, json.loads(_RANDOM.sub(lambda mark: now.get(mark[0], mark[0]), written))

    async def _ask(self, body: dict[str, Any], *, seed: int) -> tuple[int, dict[str, Any]]:
        asked = {part: body[part] for part in _PARTS if part in body}
        longest = min(body.get("max_completion_tokens") or self._longest, self._longest)
        options = {"temperature": 0.7, "seed": seed, "max_tokens": longest}
        self.asked_anew += 1
        async with httpx2.AsyncClient(headers=self._headers, timeout=_PATIENCE) as client:
            response = await client.post(
                f"{self._url}/chat/completions", json={"model": self._model, **asked, **options}
            )
        return response.status_code, response.json()

    @contextmanager
    def served(self, cases: dict[str, Case]) -> Generator[str]:
        """A server that answers below `/CONTENDER/CASE/v1`, and says what is wrong with a text."""

        async def complete(request: Request) -> JSONResponse:
            place = f"{request.path_params['contender']}/{request.path_params['case']}"
            status, answer = await self.answer(place, await request.json())
            return JSONResponse(answer, status_code=status)

        async def check(request: Request) -> JSONResponse:
            case = cases[request.path_params["case"]]
            verdicts = await case.verdicts((await request.json())["text"])
            return JSONResponse([v.message for v in verdicts if not v.passed])

        routes = [
            Route("/{contender}/{case}/v1/chat/completions", complete, methods=["POST"]),
            Route("/{contender}/{case}/check", check, methods=["POST"]),
        ]
        config = uvicorn.Config(Starlette(routes=routes), log_config=None, lifespan="off")
        with (
            create_server(("127.0.0.1", 0)) as listener,
            in_thread(uvicorn.Server(config), listener),
        ):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
