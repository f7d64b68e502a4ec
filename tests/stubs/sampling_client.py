"""The model of a host that answers by a rule, and a client that goes through rounds by hand."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from mcp import Client
from mcp.client import ClientRequestContext
from mcp_types import (
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ErrorData,
    InputRequiredResult,
    InputResponse,
    TextContent,
)

from sifaka.models.prompt import contents
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings
from tests.stubs.hosts import covered, joined
from tests.stubs.servers import Era, stdio_server

TEXT = "Draft 0 of the text."
DRAFTS: dict[str, Any] = {
    "text": TEXT,
    "prompt": "write drafts, change the numbers",
    "model": "host",
    "max_iterations": 3,
}
"""The arguments of `improve_text` for a run whose versions `ScriptedHost` writes."""
REFUSED = ErrorData(code=-1, message="User rejected sampling request")
_DRAFT = re.compile(r"Draft (\d+)")


def said(text: str, *, stop_reason: str = "endTurn") -> CreateMessageResult:
    """What a model says."""
    content = TextContent(type="text", text=text)
    return CreateMessageResult(
        role="assistant", content=content, model="scripted", stop_reason=stop_reason
    )


def is_for_a_writer(params: CreateMessageRequestParams) -> bool:
    """Whether a text is asked for, rather than an opinion of it."""
    return "JSON schema" not in (params.system_prompt or "")


def is_for_the_second_draft(params: CreateMessageRequestParams) -> bool:
    """Whether a draft is to be written that follows the first one, which was reviewed."""
    return is_for_a_writer(params) and "Draft 1" in words(params)


class ScriptedHost:
    """Writes `Draft 1`, `Draft 2` and so on, and is content with the draft of a number.

    Its opinions of the drafts before quote them, the later ones with milder issues. Of two drafts
    it prefers the later one.

    Args:
        content_with: The number of the first draft that it accepts.
        prefers: What it answers where it compares a version with its original besides.
        refuses: Which questions its user does not allow.
        says: What it answers whatever it is asked.
    """

    def __init__(
        self,
        *,
        content_with: int = 3,
        prefers: str = "text",
        refuses: Callable[[CreateMessageRequestParams], bool] = lambda _: False,
        says: CreateMessageResult | None = None,
    ) -> None:
        self.content_with = content_with
        self.prefers = prefers
        self.refuses = refuses
        self.says = says
        self.asked: list[CreateMessageRequestParams] = []

    async def __call__(
        self, context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        """A client's `sampling_callback`."""
        del context
        return self.answer(params)

    def answer(self, params: CreateMessageRequestParams) -> CreateMessageResult | ErrorData:
        """Its answer to one question."""
        self.asked.append(params)
        if self.refuses(params):
            return REFUSED
        if self.says is not None:
            return self.says
        numbers = [int(number) for number in _DRAFT.findall(words(params))]
        if is_for_a_writer(params):
            return said(f"Draft {max(numbers, default=0) + 1} of the text.")
        asked = params.system_prompt or ""
        if '"verdict"' not in asked and '"better"' in asked:
            first, second = numbers
            return said(json.dumps({"better": "first" if first > second else "second"}))
        shown = contents(words(params))[0]
        if "findings" in shown:
            return said(json.dumps(joined(shown)))
        opinion = self._opinion(int(_DRAFT.findall(shown["text"][0])[-1]))
        opinion["covered"] = covered(shown)
        if '"better"' in asked:
            opinion["better"] = self.prefers
        return said(json.dumps(opinion))

    def _opinion(self, number: int) -> dict[str, Any]:
        if number >= self.content_with:
            return {"verdict": "accept"}
        # Each draft is a little better than the one before.
        weights = [min(5, 40 - number - 5 * n) for n in range(8)]
        issues = [
            {"quote": f"Draft {number}", "message": "go on" * (n + 1), "severity": weight}
            for n, weight in enumerate(weights)
            if weight > 0
        ]
        return {"verdict": "revise", "issues": issues}


def words(params: CreateMessageRequestParams) -> str:
    """What is asked, without the instructions."""
    (message,) = params.messages
    assert isinstance(message.content, TextContent)
    return message.content.text


class ByHand:
    """One call of a tool, gone through round by round, on any clients one after the other.

    Args:
        tool: Its name.
        arguments: Its arguments.
    """

    def __init__(self, tool: str, **arguments: Any) -> None:
        self._tool = tool
        self._arguments = arguments
        self.rounds: list[InputRequiredResult] = []
        """What was asked so far."""

    @property
    def questions(self) -> Mapping[str, CreateMessageRequestParams]:
        """Those of the last round, by their keys."""
        requests = (self.rounds[-1].input_requests or {}).items()
        found = {key: each for key, each in requests if isinstance(each, CreateMessageRequest)}
        assert len(found) == len(requests)
        return {key: request.params for key, request in found.items()}

    async def call(
        self, client: Client, answers: Mapping[str, InputResponse] | None = None, **changed: Any
    ) -> CallToolResult | None:
        """Call the tool with the answers to the last round; None when there is another round."""
        result = await client.session.call_tool(
            self._tool,
            {**self._arguments, **changed},
            input_responses=None if answers is None else dict(answers),
            request_state=self.rounds[-1].request_state if self.rounds else None,
            allow_input_required=True,
        )
        if isinstance(result, InputRequiredResult):
            self.rounds.append(result)
            return None
        return result

    def answers(
        self, host: ScriptedHost, keys: Iterable[str] | None = None
    ) -> dict[str, InputResponse]:
        """What a host answers to the questions of the last round, or to those of these keys."""
        answers: dict[str, InputResponse] = {}
        for key in self.questions if keys is None else keys:
            answer = host.answer(self.questions[key])
            assert isinstance(answer, CreateMessageResult)
            answers[key] = answer
        return answers

    async def go_on(self, client: Client, host: ScriptedHost) -> CallToolResult | None:
        """One more round."""
        return await self.call(client, self.answers(host) if self.rounds else None)

    async def finish(self, client: Client, host: ScriptedHost) -> dict[str, Any]:
        """All rounds that are left; the result."""
        while (result := await self.go_on(client, host)) is None:
            pass
        return data(result)


def data(result: CallToolResult) -> dict[str, Any]:
    """The structured part of a result that is no error."""
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def handed_in(client: Client, out: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The end of a run that waits for its caller, who hands in a text and then stands by it."""
    place = {"run_id": out["run_id"], "parent_id": out["brief"]["parent_id"]}
    taken = data(await client.call_tool("submit_revision", {**place, "text": text}))
    assert (taken["status"], taken["accepted"]) == ("needs_revision", True)
    assert taken["brief"]["sheet"], "what to look at before it stands"
    place["parent_id"] = taken["brief"]["parent_id"]
    return data(await client.call_tool("submit_revision", {**place, "accept": True}))


def text_of(result: CallToolResult) -> str:
    """The words of a result."""
    content = result.content[0]
    assert isinstance(content, TextContent)
    return content.text


def error(result: CallToolResult | None) -> str:
    """The words of a result that is one."""
    assert result is not None
    assert result.is_error
    assert len(result.content) == 1
    return text_of(result)


@asynccontextmanager
async def hosted(
    transport: Literal["memory", "stdio"], era: Era, home: Path, host: ScriptedHost
) -> AsyncGenerator[Client]:
    """A client with sampling of a server of ours."""
    match transport:
        case "memory":
            server = SifakaServer(Settings(home=home, embedding_model=None))
            async with Client(server, mode=era, sampling_callback=host) as client:
                yield client
        case "stdio":
            async with Client(stdio_server(home), mode=era, sampling_callback=host) as client:
                yield client
