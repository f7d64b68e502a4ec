"""`notifications/cancelled` of the handshake era over HTTP, with sessions and without."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from sifaka.models.provider import loaded
from tests.stubs.handshake import MODEL, Caller, caller
from tests.stubs.provider import Gate, Provider, provider, says, told_of
from tests.stubs.served import grant_token, served

pytestmark = pytest.mark.anyio
IDLE = "sifaka_runs_in_progress 0.0"


@asynccontextmanager
async def improving(caller: Caller, gate: Gate, **how: Any) -> AsyncGenerator[None]:
    """Within it a request waits for its provider."""
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: caller.improve(**how))
        await gate.reached()
        yield


@asynccontextmanager
async def paid(
    home: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> AsyncGenerator[tuple[str, Provider]]:
    """A server whose provider counts what it is asked, and answers when the gate is open."""
    await loaded(MODEL)  # which takes long on a busy machine
    with provider(lambda _: says("A text.", gate=gate)) as models:
        told_of(models, monkeypatch)
        with served(home, **settings) as url:
            try:
                yield url, models
            finally:
                gate.open()


KEY = {"sifaka.idempotency-key": "a key"}
"""Keeps a run from leaving with its client, and not from being cancelled."""


@pytest.mark.parametrize(
    ("sessions", "word", "how"),
    [
        ("off", {"number": 7}, {}),
        ("on", {"number": "7"}, {}),
        ("off", {"number": "token of 7"}, {}),
        ("off", {"number": 7, "_meta": {"progressToken": "token of 7"}}, {}),
        ("off", {"number": 7}, KEY),
        ("on", {"number": 7}, KEY),
    ],
)
async def test_no_call_is_paid_for_after_a_cancellation(
    tmp_path: Path,
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
    sessions: str,
    word: dict[str, Any],
    how: dict[str, str],
) -> None:
    async with (
        paid(tmp_path, gate, monkeypatch, sessions=sessions) as (url, models),
        caller(url, in_session=sessions == "on") as client,
    ):
        async with improving(client, gate, **how):
            await client.cancel(**word)
        assert '"code":-32800' in client.answers[7]
        await models.deserted()
        gate.open()
        await client.until(IDLE)
        assert await client.statuses() == ["cancelled"]
        assert len(models.requests) == 1


async def test_what_names_no_call_of_this_client_stops_nothing(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        paid(tmp_path, gate, monkeypatch) as (url, _),
        caller(url) as client,
        caller(url, name="another/1") as other,
    ):
        async with improving(client, gate):
            for number in (8, True, None, {"a": 1}):
                await client.cancel(number)
            await other.cancel(7)
            gate.open()
        assert '"result"' in client.answers[7]


@pytest.mark.parametrize("sessions", ["off", "on"])
async def test_a_tenant_stops_no_run_of_another(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch, sessions: str
) -> None:
    tokens = tmp_path / "tokens"
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    told = {"sessions": sessions, "auth_tokens_file": tokens}
    in_session = sessions == "on"
    async with (
        paid(tmp_path, gate, monkeypatch, **told) as (url, _),
        caller(url, alice, in_session=in_session) as hers,
        caller(url, bob, in_session=in_session) as his,
    ):
        async with improving(hers, gate):
            await his.cancel(7)
            await his.cancel("token of 7")
            gate.open()
        assert '"result"' in hers.answers[7]
        assert await his.statuses() == []


async def test_a_number_that_two_clients_use_stops_neither(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        paid(tmp_path, gate, monkeypatch) as (url, models),
        caller(url) as one,
        caller(url) as two,
    ):
        async with improving(one, gate), improving(two, gate, token="another"):
            with anyio.fail_after(20):
                while len(models.requests) < 2:  # noqa: ASYNC110 - in another thread
                    await anyio.sleep(0.01)
            await two.cancel(7)
            gate.open()
        assert '"result"' in one.answers[7]
        assert '"result"' in two.answers[7]


async def test_a_cancellation_that_crosses_its_answer_stops_no_later_call(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        paid(tmp_path, gate, monkeypatch) as (url, _),
        caller(url) as one,
        caller(url) as two,
    ):
        async with improving(two, gate, number=8, token=7):
            await one.call("validate_text", 7, arguments={"text": "x"})
            assert '"result"' in one.answers[7]
            await one.cancel(7)
            gate.open()
        assert '"result"' in two.answers[8]


@pytest.mark.slow
@pytest.mark.parametrize("sessions", ["off", "on"])
async def test_a_cancellation_leaves_an_answer_whole(tmp_path: Path, sessions: str) -> None:
    """Many at once, each cancelled about when its answer comes: one of both, never neither."""
    with served(tmp_path, sessions=sessions) as url:
        async with caller(url, in_session=sessions == "on") as client:

            async def check(number: int) -> None:
                await client.call("validate_text", number, arguments={"text": "A text. " * 200})

            async with anyio.create_task_group() as group:
                for number in range(40):
                    group.start_soon(check, number)
                    group.start_soon(client.cancel, number)
            for number in range(40):
                said = client.answers[number]
                assert ('"result"' in said) != ('"code":-32800' in said), said
            assert '"result"' in (await client.post("ping", 99)).text
