"""Answers of a round that are missing, unknown, of another kind or call; the key of the seal."""

import os
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageResult, ElicitResult, ImageContent, InputResponse

from sifaka.record.run import Run
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.host.sampling import sealing
from sifaka_mcp.settings import Settings
from tests.stubs.sampling_client import TEXT, ByHand, ScriptedHost, data, error, said
from tests.stubs.servers import state_of

pytestmark = pytest.mark.anyio


ARGUMENTS: dict[str, Any] = {
    "text": TEXT,
    "prompt": "write drafts, change the numbers",
    "model": "host",
    "critics": ["self_refine", {"type": "prompt", "rubric": "is it nice?"}],
}
AN_IMAGE = CreateMessageResult(
    role="assistant",
    model="scripted",
    content=ImageContent(type="image", data="aGk=", mime_type="image/png"),
)


@pytest.fixture
def server(tmp_path: Path) -> SifakaServer:
    return SifakaServer(Settings(home=tmp_path))


@pytest.fixture
def host() -> ScriptedHost:
    return ScriptedHost(content_with=1)


@pytest.fixture
async def client(server: SifakaServer, host: ScriptedHost) -> AsyncGenerator[Client]:
    async with Client(server, sampling_callback=host) as client:
        yield client


@pytest.fixture
async def call(client: Client, host: ScriptedHost) -> ByHand:
    """A call after its second round, in which the critics are asked about the first draft."""
    call = ByHand("improve_text", **ARGUMENTS)
    for _ in range(2):
        assert await call.go_on(client, host) is None
    return call


async def the_run(server: SifakaServer) -> Run:
    store = state_of(server).store
    (summary,) = (await store.recent(limit=9)).runs
    return await store.load(summary.run_id)


async def test_what_was_not_answered_is_asked_again_and_nothing_else(
    call: ByHand, client: Client, host: ScriptedHost
) -> None:
    first, second = call.questions
    assert await call.call(client, call.answers(host, [second])) is None
    assert list(call.questions) == [first]
    assert await call.call(client, {}) is None
    assert list(call.questions) == [first]
    out = await call.finish(client, host)
    assert out["text"] == "Draft 1 of the text."
    assert out["usage"]["model_calls"] == len(host.asked) == 3


async def test_unasked_answers_are_ignored(
    call: ByHand, client: Client, host: ScriptedHost
) -> None:
    host.content_with = 2
    answers = call.answers(host)
    unasked: dict[str, InputResponse] = {"2/write#0 000000000000": said("x"), "other": AN_IMAGE}
    assert await call.call(client, {**answers, **unasked}) is None
    assert await call.call(client, {**answers, **call.answers(host)}) is None, "old ones too"
    assert (await call.finish(client, host))["text"] == "Draft 2 of the text."
    assert len(host.asked) == 2 * 3


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (AN_IMAGE, "an answer of the host holds content of type 'image'"),
        (ElicitResult(action="accept"), "is of type ElicitResult, not CreateMessageResult"),
    ],
)
async def test_an_answer_of_another_kind_is_refused_and_changes_nothing(
    answer: InputResponse,
    complaint: str,
    call: ByHand,
    client: Client,
    host: ScriptedHost,
    server: SifakaServer,
) -> None:
    before = await the_run(server)
    first, second = call.questions
    wrong = {first: answer, **call.answers(host, [second])}
    assert complaint in error(await call.call(client, wrong))
    assert await the_run(server) == before
    assert (await call.finish(client, host))["text"] == "Draft 1 of the text."


async def test_an_answer_of_another_kind_at_once_is_an_abstention(server: SifakaServer) -> None:
    host = ScriptedHost(says=AN_IMAGE)
    async with Client(server, mode="legacy", sampling_callback=host) as client:
        out = data(await client.call_tool("improve_text", ARGUMENTS))
    assert out["status"] == "needs_revision"
    assert "holds content of type 'image'" in out["degraded"][-1]


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (said(" "), "the answer was empty"),
        (said("Draft 1", stop_reason="maxTokens"), "the answer was cut off"),
    ],
)
async def test_a_poor_answer_for_the_writer_is_not_asked_for_again_and_the_caller_writes(
    answer: InputResponse, complaint: str, call: ByHand, client: Client, host: ScriptedHost
) -> None:
    host.content_with = 2
    assert await call.call(client, call.answers(host)) is None
    (writing,) = call.questions
    result = await call.call(client, {writing: answer})
    assert result is not None
    out = data(result)
    assert (out["status"], out["text"]) == ("needs_revision", "Draft 1 of the text.")
    assert complaint in out["degraded"][-1]
    assert out["brief"]["issues"][0]["message"] == "go on"


async def test_a_cut_opinion_is_asked_for_again(
    call: ByHand, client: Client, host: ScriptedHost
) -> None:
    first, second = call.questions
    cut = said('{"verdict": "rev', stop_reason="maxTokens")
    assert await call.call(client, {first: cut, **call.answers(host, [second])}) is None
    (again,) = call.questions
    assert "not in the form asked for" in call.questions[again].messages[0].model_dump_json()
    assert (await call.finish(client, host))["degraded"] == []


async def test_a_state_that_is_not_of_this_call_is_refused_and_changes_nothing(
    call: ByHand, client: Client, host: ScriptedHost, server: SifakaServer
) -> None:
    before = await the_run(server)
    answers = call.answers(host)
    state = call.rounds[-1].request_state
    assert state is not None
    other_letter = "A" if state[-9] != "A" else "B"
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("improve_text", ARGUMENTS, state[:-9] + other_letter + state[-8:]),
        ("improve_text", ARGUMENTS, "v1.x"),
        ("improve_text", {**ARGUMENTS, "text": "Another text."}, state),
        ("resume_run", {"run_id": before.run_id}, state),
    ]
    for tool, arguments, sent in calls:
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            await client.session.call_tool(
                tool,
                arguments,
                input_responses=answers,
                request_state=sent,
                allow_input_required=True,
            )
    assert await the_run(server) == before
    assert (await call.finish(client, host))["status"] == "done"


@contextmanager
def asked_by(subject: str) -> Generator[None]:
    """Within it clients are known by a token of this subject."""
    token = AccessToken(token=subject, client_id="app", scopes=[], subject=subject)
    reset = auth_context_var.set(AuthenticatedUser(token))
    try:
        yield
    finally:
        auth_context_var.reset(reset)


async def test_a_round_of_another_tenant_is_refused(
    server: SifakaServer, host: ScriptedHost
) -> None:
    call = ByHand("improve_text", **ARGUMENTS)
    with asked_by("alice"):
        async with Client(server, sampling_callback=host) as client:
            await call.go_on(client, host)
            (line,) = data(await client.call_tool("get_thought_history"))["runs"]
    with asked_by("mallory"):
        async with Client(server, sampling_callback=host) as client:
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await call.go_on(client, host)
            resumed = await client.call_tool("resume_run", {"run_id": line["run_id"]})
            assert error(resumed).startswith("no run or thought")
    with asked_by("alice"):
        async with Client(server, sampling_callback=host) as client:
            assert (await call.finish(client, host))["status"] == "done"


async def test_a_round_that_is_sent_twice_counts_once(
    call: ByHand, client: Client, host: ScriptedHost, server: SifakaServer
) -> None:
    host.content_with = 2
    answers = call.answers(host)
    assert await call.call(client, answers) is None
    (writing,) = call.questions
    call.rounds.pop()
    version = (await the_run(server)).version
    assert await call.call(client, answers) is None
    assert list(call.questions) == [writing]
    assert (await the_run(server)).version == version


def seal(security: RequestStateSecurity) -> str:
    return security.codec.seal(b"state")


def test_all_who_share_a_home_seal_with_one_key_that_others_cannot_read(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    every = [sealing(settings) for _ in range(32)]
    with ThreadPoolExecutor(8) as threads:
        sealed = list(threads.map(seal, every))
    assert {sealing(settings).codec.unseal(each) for each in sealed} == {b"state"}
    (key,) = settings.home.iterdir()
    assert key.stat().st_mode & 0o077 == 0


def test_what_lies_there_already_is_not_written_to(tmp_path: Path) -> None:
    other = tmp_path / "precious"
    other.write_text("mine")
    home = tmp_path / "home"
    home.mkdir()
    (home / f"state.key.{os.getpid()}").symlink_to(other)
    sealing(Settings(home=home)).codec.seal(b"state")
    assert other.read_text() == "mine"
