import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.tool_backed.redis import LogRecord, RunLog
from sifaka.storage.tool_backed.session import StdioToolSession, without_secrets
from sifaka_mcp.stores.catalogue import open_url

pytestmark = pytest.mark.anyio
COMMAND = [sys.executable, str(Path(__file__).with_name("fragile_server.py"))]


@pytest.fixture(scope="module")
def session() -> Generator[StdioToolSession]:
    """One for all tests: its server is started again when a test has ended it."""
    session = StdioToolSession(COMMAND)
    yield session
    anyio.run(session.aclose)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


async def test_many_tasks_call_at_once_and_each_is_answered(session: StdioToolSession) -> None:
    answers: dict[int, str] = {}
    processes: set[str] = set()

    async def ask(number: int) -> None:
        answers[number] = await session.call("echo", {"text": f"ü {number}"})
        processes.add(await session.call("process_id", {}))

    async with anyio.create_task_group() as group:
        for number in range(40):
            group.start_soon(ask, number)

    assert answers == {number: f"ü {number}" for number in range(40)}
    assert len(processes) == 1


@pytest.mark.slow
async def test_a_text_of_a_megabyte_goes_there_and_back(session: StdioToolSession) -> None:
    text = "é\u2028\n" * 250_000
    assert await session.call("echo", {"text": text}) == text


@pytest.mark.slow
def test_one_server_serves_every_event_loop_until_the_session_is_closed() -> None:
    session = StdioToolSession(COMMAND)

    async def process() -> int:
        return int(await session.call("process_id", {}))

    first, second = anyio.run(process), anyio.run(process)
    anyio.run(session.aclose)

    assert first == second
    assert not is_alive(first)


@pytest.mark.slow
async def test_a_server_that_has_died_is_started_again(session: StdioToolSession) -> None:
    first = int(await session.call("process_id", {}))
    os.kill(first, signal.SIGKILL)
    second = int(await session.call("process_id", {}))
    assert second != first


@pytest.mark.slow
async def test_a_call_without_an_answer_is_repeated(
    session: StdioToolSession, tmp_path: Path
) -> None:
    await session.call("echo", {"text": "x"})
    answers: list[str] = []

    async def ask() -> None:
        answers.append(await session.call("echo", {"text": "meanwhile"}))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        assert await session.call("die_once", {"file": str(tmp_path / "died")}) == "survived"

    assert answers == ["meanwhile"]


@pytest.mark.slow
async def test_a_server_that_dies_of_a_call_may_come_back(session: StdioToolSession) -> None:
    with pytest.raises(StorageError, match="the server ended during die") as caught:
        await session.call("die", {})
    assert caught.value.retryable
    assert "it said 'fragile: ready'" in str(caught.value)
    assert await session.call("echo", {"text": "again"}) == "again"


@pytest.mark.parametrize("tool", ["fail", "no_such_tool"])
async def test_a_call_that_fails_is_one_line(session: StdioToolSession, tool: str) -> None:
    with pytest.raises(StorageError, match=tool) as caught:
        await session.call(tool, {})
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["no-such-program-anywhere", "--flag"], "no-such-program-anywhere --flag"),
        ([sys.executable, "-c", "import sys; sys.exit('no way')"], "no way"),
        ([sys.executable, "-c", "input(); input()"], "timed out"),
    ],
    ids=["missing", "ends at once", "never answers"],
)
async def test_a_server_that_does_not_start_is_named(command: list[str], said: str) -> None:
    session = StdioToolSession(command, start_seconds=1)
    with anyio.fail_after(30), pytest.raises(StorageError, match="did not start") as caught:
        await session.call("echo", {"text": "x"})
    await session.aclose()
    assert said in str(caught.value)
    assert command[0] in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_closed_session_is_not_opened_again() -> None:
    session = StdioToolSession(COMMAND)
    await session.aclose()
    await session.aclose()
    with pytest.raises(StorageError, match="is closed"):
        await session.call("echo", {"text": "x"})


@pytest.mark.slow
async def test_variables_are_given_to_the_server() -> None:
    script = (
        "import os, runpy; assert os.environ['REDIS_PWD'] == 'x' and 'OTHER' not in os.environ;"
        f"runpy.run_path({COMMAND[1]!r}, run_name='__main__')"
    )
    session = StdioToolSession([sys.executable, "-c", script], {"REDIS_PWD": "x"})
    assert await session.call("echo", {"text": "y"}) == "y"
    await session.aclose()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("--url redis://me:pw@host:1/0 -v", "--url redis://***@host:1/0 -v"),
        ("'rediss://:p/w@d@host/0' x", "'rediss://***@host/0' x"),
        ("--password pw --port 1", "--password *** --port 1"),
        ("--milvus-token=root:pw x", "--milvus-token=*** x"),
        ("env REDIS_PWD=pw redis-mcp-server", "env REDIS_PWD=*** redis-mcp-server"),
        ("--entraid-client-secret 'it is secret'", "--entraid-client-secret ***"),
        ("--password 'it'\"'\"'s' x", "--password *** x"),
        ("--api-key=abc x", "--api-key=*** x"),
        ("--host 127.0.0.1 --ssl", "--host 127.0.0.1 --ssl"),
    ],
)
def test_secrets_of_a_command_are_not_shown(text: str, shown: str) -> None:
    assert without_secrets(text) == shown


@pytest.mark.parametrize("url", ["mongo+mcp:x", "redis+mcp:", "redis+mcp:'x", 'redis+mcp:""'])
def test_what_names_no_server_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        open_url(url, home=tmp_path)


async def test_a_server_is_told_where_its_database_is_and_no_keys_of_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_HOST", "redis.test")
    monkeypatch.setenv("MILVUS_URI", "http://milvus.test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    file = tmp_path / "environment"
    store = open_url(f"redis+mcp:sh -c 'env > {file}; exit 1'", home=tmp_path)
    await store.health()
    await store.aclose()

    told = file.read_text()
    assert "REDIS_HOST=redis.test" in told
    assert "MILVUS_URI=http://milvus.test" in told
    assert "sk-none" not in told


def read(*records: LogRecord) -> RunLog:
    log = RunLog()
    for record in records:
        log.add(record)
    return log


def append(after: int, *payloads: str, fence: int | None = None) -> LogRecord:
    return LogRecord(kind="append", after=after, payloads=payloads, fence=fence)


def test_of_two_appends_at_the_same_place_the_first_counts() -> None:
    first, second = append(0, "a"), append(0, "b")
    folded = read(first, second, append(1, "c"))
    assert folded.payloads == ["a", "c"]
    assert first.id in folded.fences
    assert second.id not in folded.fences


def test_a_record_that_is_there_twice_counts_once() -> None:
    begun, claim = append(0, "a"), LogRecord(kind="claim")
    folded = read(begun, begun, claim, claim)
    assert folded.payloads == ["a"]
    assert folded.fences == {begun.id: 0, claim.id: 1}


def test_an_append_under_an_earlier_claim_does_not_count() -> None:
    log = [append(0, "a", fence=0), LogRecord(kind="claim"), LogRecord(kind="claim")]
    folded = read(*log, append(1, "b", fence=1), append(1, "c"), append(2, "d", fence=2))
    assert folded.payloads == ["a", "c", "d"]


def test_nothing_is_claimed_before_a_run_begins() -> None:
    claim = LogRecord(kind="claim")
    assert read(claim, append(0, "a")).fences.keys().isdisjoint({claim.id})
