"""Budgets of a tenant and a day: kept in the store, and reserved before a call is made."""

from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from mcp import Client

from sifaka.errors import BudgetExceeded, ConfigurationError, StorageError
from sifaka.record.usage import Budget, Usage
from sifaka.storage import MemoryStorage, SQLiteStorage
from sifaka.storage.redis import RedisStorage
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.runs.daily_spending import Accounts
from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.sources import load_settings
from tests.stubs.provider import REFUND, opinion, provided, says
from tests.stubs.redis_server import redis_server
from tests.stubs.sampling_client import data
from tests.stubs.served import client_of, grant_token, served

pytestmark = pytest.mark.anyio
MODEL = "openai-chat:stub"
CALL = Usage(model_calls=1)
TODAY = datetime(2026, 11, 23, 12, tzinfo=UTC)


async def test_processes_that_share_a_store_share_the_account(tmp_path: Path) -> None:
    limits = Budget(max_calls=100)
    stores = [SQLiteStorage(tmp_path / "sifaka.db") for _ in range(3)]
    processes = [Accounts(store, limits, lambda: TODAY) for store in stores]
    made = 0

    async def spend(accounts: Accounts) -> None:
        nonlocal made
        for _ in range(60):
            try:
                await accounts.of("alice").reserve(CALL)
            except BudgetExceeded:
                return
            made += 1
            accounts.of("alice").settle(CALL, CALL)

    async with anyio.create_task_group() as group:
        for accounts in processes:
            group.start_soon(spend, accounts)
    assert 100 - 2 * 2 <= made <= 100, "each may hold a fiftieth that it does not spend"
    for accounts in processes:
        await accounts.aclose()
    after = Accounts(stores[0], limits, lambda: TODAY).of("alice")
    for _ in range(100 - made):
        await after.reserve(CALL)
    with pytest.raises(BudgetExceeded, match="for the day is spent"):
        await after.reserve(CALL)
    await Accounts(stores[0], limits, lambda: TODAY).of("bob").reserve(CALL)
    for store in stores:
        await store.aclose()


async def test_what_a_call_did_not_take_can_be_spent_and_a_day_begins_anew() -> None:
    now = TODAY
    account = Accounts(MemoryStorage(), Budget(max_tokens=1000), lambda: now).of("alice")
    large = Usage(model_calls=1, input_tokens=100, output_tokens=900)
    await account.reserve(large)
    with pytest.raises(BudgetExceeded, match="tokens"):
        await account.reserve(large)
    account.settle(large, Usage(model_calls=1, input_tokens=50, output_tokens=50))
    await account.reserve(Usage(model_calls=1, output_tokens=900))
    with pytest.raises(BudgetExceeded):
        await account.reserve(CALL.model_copy(update={"input_tokens": 1}))
    now = datetime(2026, 11, 24, 0, 1, tzinfo=UTC)
    await account.reserve(large)


async def test_money_is_limited_and_what_has_no_price_is_not_asked() -> None:
    account = Accounts(MemoryStorage(), Budget(max_cost_usd=1.0), lambda: TODAY).of("alice")
    await account.reserve(Usage(model_calls=1, cost_usd=0.75))
    with pytest.raises(BudgetExceeded, match="cost"):
        await account.reserve(Usage(model_calls=1, cost_usd=0.5))
    with pytest.raises(BudgetExceeded, match="no known price"):
        await account.reserve(Usage(model_calls=1, cost_usd=None))
    await account.reserve(Usage(model_calls=1, cost_usd=0.25))


async def test_without_the_store_no_more_is_spent_than_was_taken() -> None:
    with redis_server() as redis:
        store = RedisStorage(redis.url)
        account = Accounts(store, Budget(max_calls=100), lambda: TODAY).of("alice")
        await account.reserve(CALL)
        redis.kill()
        await account.reserve(CALL)
        with pytest.raises(BudgetExceeded, match="cannot be looked up") as refused:
            await account.reserve(CALL)
        assert isinstance(refused.value.__cause__, StorageError)
        await store.aclose()


@pytest.mark.slow
async def test_a_tenants_runs_stop_at_its_budget_and_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tmp_path / "tokens"
    alice, bob = grant_token(tokens, "alice"), grant_token(tokens, "bob")
    arguments = REFUND | {"max_iterations": 9}
    with provided(lambda _: says("Not yet."), monkeypatch) as models:
        settings = {"auth_tokens_file": tokens, "tenant_budget": "max_calls=3"}
        with served(tmp_path, store="sqlite:", **settings) as url:
            async with client_of(url, alice, "auto") as client:
                await client.call_tool("improve_text", arguments)
                last = data(await client.call_tool("improve_text", arguments))
                assert len(models.requests) == 3
                assert last["stop_reason"] == "budget_calls"
                listed = data(await client.call_tool("get_thought_history", {}))
                assert len(listed["runs"]) == 2, "the account is no run of the tenant"
            async with client_of(url, bob, "auto") as client:
                await client.call_tool("improve_text", arguments)
                await client.call_tool("improve_text", arguments)
        assert len(models.requests) == 6
        with served(tmp_path, store="sqlite:", **settings) as url:
            async with client_of(url, alice, "auto") as client:
                await client.call_tool("improve_text", arguments)
        assert len(models.requests) == 6, "a restart gives nothing back"


async def test_a_reading_token_spends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tmp_path / "tokens"
    reader = grant_token(tokens, "alice", scopes=("sifaka:read",))
    writer = grant_token(tokens, "alice")
    text = {"text": "It is is so."}
    with (
        provided(lambda _: opinion("accept"), monkeypatch) as models,
        served(tmp_path, auth_tokens_file=tokens, model=MODEL, judge_model=MODEL) as url,
    ):
        async with client_of(url, reader, "auto") as client:
            plain = await client.call_tool("critique_text", text)
            assert not plain.is_error, "what needs no model is done"
            named = await client.call_tool("critique_text", {**text, "model": MODEL})
            assert named.is_error
            critic = {"type": "self_refine", "model": MODEL}
            await client.call_tool("critique_text", {**text, "critics": [critic]})
            await client.call_tool("validate_text", {**text, "validators": []})
        assert models.requests == []
        async with client_of(url, writer, "auto") as client:
            await client.call_tool("critique_text", text)
        assert models.requests


async def test_a_budget_is_read_from_the_environment() -> None:
    told = load_settings({"SIFAKA_TENANT_BUDGET": "max_calls=1000, max_cost_usd=2.5"})
    assert told.tenant_budget == Budget(max_calls=1000, max_cost_usd=2.5)
    for wrong in ("5", "max_call=1", "max_seconds=5", "max_calls=-1"):
        with pytest.raises(ConfigurationError, match="SIFAKA_TENANT_BUDGET"):
            load_settings({"SIFAKA_TENANT_BUDGET": wrong})


async def test_without_tokens_the_tenant_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provided(lambda _: opinion("accept"), monkeypatch) as models:
        settings = Settings(home=tmp_path, model=MODEL, tenant_budget=Budget(max_calls=0))
        async with Client(SifakaServer(settings)) as client:
            await client.call_tool("critique_text", {"text": "It is so."})
        assert models.requests == []
