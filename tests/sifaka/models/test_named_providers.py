"""Each provider that an extra is for answers by its name, here from this machine."""

import socket
from collections.abc import Iterator
from typing import Any

import httpx
import huggingface_hub
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from sifaka import Chain
from tests.stubs.served import in_thread

pytestmark = pytest.mark.anyio

TEXT = "one two three"
CHAT = {
    "id": "1",
    "object": "chat.completion",
    "created": 1_700_000_000,
    "model": "stub",
    "provider": "somebody",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "one two"},
        }
    ],
    "usage": {"prompt_tokens": 20, "completion_tokens": 7, "total_tokens": 27},
}
RESPONSE: dict[str, Any] = {
    "id": "1",
    "object": "response",
    "created_at": 1_700_000_000,
    "status": "completed",
    "model": "stub",
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "tools": [],
    "output": [
        {
            "type": "message",
            "id": "1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": "one two", "annotations": []}],
        }
    ],
    "usage": {
        "input_tokens": 20,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 27,
    },
}
MESSAGE = {
    "id": "1",
    "type": "message",
    "role": "assistant",
    "model": "stub",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "content": [{"type": "text", "text": "one two"}],
    "usage": {"input_tokens": 20, "output_tokens": 7},
}
CONTENT = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "one two"}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 7, "totalTokenCount": 27},
    "modelVersion": "stub",
}


async def answer(request: Request) -> JSONResponse:
    path = request.url.path
    if path.endswith("/responses"):
        return JSONResponse(RESPONSE)
    if path.endswith("/messages"):
        return JSONResponse(MESSAGE)
    return JSONResponse(CONTENT if ":generateContent" in path else CHAT)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All of the providers on this machine, where their clients look for them."""
    app = Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        for name in ("OPENAI", "ANTHROPIC", "GOOGLE", "OPENROUTER"):
            monkeypatch.setenv(f"{name}_API_KEY", "key")
        monkeypatch.setenv("HF_TOKEN", "hf_key")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("OLLAMA_BASE_URL", f"{url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", url)
        monkeypatch.setattr(
            "pydantic_ai.providers.openrouter.OpenRouterProvider.base_url", f"{url}/v1"
        )

        async def here(request: httpx.Request) -> None:
            request.url = request.url.copy_with(
                scheme="http", host="127.0.0.1", port=httpx.URL(url).port
            )

        huggingface_hub.set_async_client_factory(
            lambda: httpx.AsyncClient(event_hooks={"request": [here]})
        )
        with in_thread(uvicorn.Server(uvicorn.Config(app, log_config=None)), listener):
            yield
        huggingface_hub.set_async_client_factory(httpx.AsyncClient)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        "openai:stub",
        "openai-responses:stub",
        "openai-chat:stub",
        "anthropic:stub",
        "google:stub",
        "huggingface:someone/stub",
        "ollama:stub",
        "openrouter:someone/stub",
    ],
)
@pytest.mark.usefixtures("stub")
async def test_it_writes_and_its_tokens_are_counted(model: str) -> None:
    rules = [{"type": "length", "max_words": 2}]
    result = await Chain(model=model, validators=rules, critics=[]).run("Shorten it.", text=TEXT)
    assert (result.text, result.status, result.error) == ("one two", "done", None)
    usage = result.usage
    assert (usage.model_calls, usage.input_tokens, usage.output_tokens) == (1, 20, 7)


async def test_a_local_server_of_openais_protocol_is_asked_for_chat_completions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    routes = [Route("/v1/chat/completions", answer, methods=["POST"])]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_config=None))
        with in_thread(server, listener):
            result = await Chain(model="openai:stub", critics=[]).run("Shorten it.", text=TEXT)
    assert (result.text, result.error) == ("one two", None)
