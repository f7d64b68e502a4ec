"""A provider that speaks the OpenAI chat protocol and takes its time: `... 0.2 2.0`.

The first number is how many seconds an answer takes, the second how many when the question says
`slow`. It prints its URL, and answers every question with what fits.
"""

import json
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from sifaka.models.prompt import contents

KEEP_ALIVE = 60
"""Seconds that an idle connection stays open, longer than a client keeps it.

With uvicorn's 5 seconds both ends would give it up at the same moment, and a request that is sent
just then is lost, retried, and counted as one more model call.
"""
SLOW = "Take your time."
"""The mark of a question that is answered slowly."""
SENT = "sent-"
"""What the id of an answer begins with; then come the nanoseconds of the clock when it was sent."""
_ENDING = "It is read by"
_LETTERS = str.maketrans("0123456789", "bcdfghjklm")
_numbers = count(1000)


def _app(seconds: float, slow_seconds: float) -> Starlette:
    async def complete(request: Request) -> JSONResponse:
        began = anyio.current_time()
        body = await request.body()
        question = json.loads(body)
        takes = slow_seconds if SLOW.encode() in body else seconds
        answer = _completion(question)
        # To read and answer is part of the time, and may take all of it on a busy machine.
        await anyio.sleep_until(began + takes)
        return JSONResponse(answer | {"id": f"{SENT}{time.time_ns()}"})

    return Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])


def _completion(question: dict[str, Any]) -> dict[str, Any]:
    given, _ = contents(question["messages"][-1]["content"])
    # No two revisions are the same, so that a run goes on after the first.
    ending = f"{_ENDING} {in_letters(next(_numbers))}."
    issues = [{"quote": "text", "message": "say which"}]
    if any(_ENDING in text for text in given.get("text", ())):
        issues.append({"quote": _ENDING, "message": "leave it out", "severity": "4"})
    revision = " ".join([*given.get("text", ()), ending])
    message: dict[str, Any] = {"role": "assistant", "content": revision}
    if question.get("tools"):
        opinion = {
            "verdict": "revise",
            "scores": {"clear": 0.5},
            "issues": issues,
        }
        fields = question["tools"][0]["function"]["parameters"]["properties"]
        if "larger" in fields:  # what a local provider is asked once
            answer: dict[str, Any] = {"larger": "second"}
        elif "verdict" in fields:
            answer = opinion | ({"better": "text"} if "better" in fields else {})
        else:
            answer = {"reason": "It says more.", "better": _longer(given)}
        call = {"name": "answer", "arguments": json.dumps(answer)}
        message |= {
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": call}],
        }
    return {
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _longer(given: Mapping[str, Sequence[str]]) -> str:
    return "first" if len(given["first"][0]) > len(given["second"][0]) else "second"


def in_letters(number: int) -> str:
    """A number in letters, since new figures would be new facts."""
    return str(number).translate(_LETTERS)


def main() -> None:
    seconds, slow_seconds = map(float, sys.argv[1:])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", file=sys.stderr, flush=True)
        app = _app(seconds, slow_seconds)
        config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_keep_alive=KEEP_ALIVE)
        uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main()
