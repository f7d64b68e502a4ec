"""What stands in Redis is data: no entry is unpickled, and a foreign one is refused."""

import ast
import logging
import pickle
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import docket
import pytest
import redis.asyncio

from sifaka_mcp.runs.service import RunKey
from tests.server.runs.test_queue import KEY, Worked, gone, name, running
from tests.stubs.redis_server import shared_redis

pytestmark = pytest.mark.anyio
_ = name  # the fixture
HERE = Path(__file__)
GROUP = "docket-workers"
ONE, OTHER = "1" * 32, "2" * 32
KNOWN = {
    # What the worker makes of a message: replaced.
    ("execution.py", "from_message"),
    # Read from the stream of strikes: there is none.
    ("strikelist.py", "from_message"),
    # Asked by programs about results and tasks: never called.
    ("execution.py", "get_result"),
    ("docket.py", "get_execution"),
}


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self._path,)


def loads_of(tree: ast.AST, function: str = "") -> Iterator[str]:
    """The functions in which something is loaded by a pickler."""
    for node in ast.iter_child_nodes(tree):
        inside = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            named = ast.unparse(node.func)
            if named.split(".")[-1] in {"load", "loads", "Unpickler"} and "json" not in named:
                yield inside
        yield from loads_of(node, inside)


def test_every_place_where_docket_loads_a_pickle_is_known() -> None:
    project = (HERE.parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'"pydocket=={version("pydocket")}"' in project
    folder = Path(docket.__file__).parent
    sources = {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    found = {
        (path.name, function)
        for path, source in sources.items()
        if "pickle" in source
        for function in loads_of(ast.parse(source))
    }
    assert found == KNOWN
    for path in (folder / "worker.py", *HERE.parents[3].glob("server/sifaka_mcp/**/*.py")):
        source = path.read_text(encoding="utf-8")
        assert "get_result(" not in source
        assert "get_execution(" not in source


def message(key: RunKey, /, **more: bytes) -> dict[Any, Any]:
    """An entry as a server writes it."""
    fields = {
        "key": f"{key.run_id}@{key.tenant}".encode(),
        "when": b"2026-01-01T00:00:00+00:00",
        "function": b"work_on_run",
        "args": f'["{key.tenant}","{key.run_id}",1]'.encode(),
        "kwargs": b"",
        "attempt": b"1",
        "generation": b"1",
    }
    return {field.encode(): value for field, value in (fields | more).items() if value != b"-"}


def connected() -> Any:
    """A client of the server that all tests share."""
    return redis.asyncio.Redis(host="127.0.0.1", port=shared_redis().port)


async def put_into(name: str, place: str, bomb: bytes) -> None:
    """Put a pickle where docket has, or may have, one."""
    poisoned = message(RunKey("ann", f"run_{place}"), args=bomb, kwargs=bomb)
    task = poisoned[b"key"].decode()
    async with connected() as client:
        match place:
            case "stream":
                await client.xadd(f"{name}:stream", poisoned)
            case "parked":
                await client.hset(f"{name}:{task}", mapping=poisoned)
                await client.zadd(f"{name}:queue", {task: 1.0})
            case "strikes":
                strike: dict[Any, Any] = {"direction": "strike", "operator": "==", "value": bomb}
                await client.xadd(f"{name}:strikes", strike)
            case _:  # what is known of a task that is in the queue as well
                known: Mapping[Any, Any] = {"args": bomb, "kwargs": bomb, "generation": 1}
                await client.hset(f"{name}:runs:{task}", mapping=known)
                await client.xadd(f"{name}:stream", poisoned)


async def emptied(name: str) -> None:
    """Return when the stream has nothing more to deliver, or to deliver again."""
    async with connected() as client:
        with anyio.fail_after(30):
            while (  # noqa: ASYNC110 - docket tells of nothing
                await client.xlen(f"{name}:stream")
                or (await client.xpending(f"{name}:stream", GROUP))["pending"]
            ):
                await anyio.sleep(0.01)


@pytest.mark.parametrize(
    ("place", "refusals"), [("stream", 1), ("parked", 1), ("strikes", 0), ("runs", 1)]
)
async def test_a_pickle_in_redis_is_never_loaded(
    name: str, place: str, refusals: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url, worked, refused, made = shared_redis().url, Worked(), list[None](), tmp_path / "made"
    await put_into(name, place, pickle.dumps(Bomb(made)))
    with caplog.at_level(logging.WARNING):
        async with running(url, name, worked, counting=refused) as queue:
            with anyio.fail_after(30):
                while len(refused) < refusals:  # noqa: ASYNC110 - docket tells of nothing
                    await anyio.sleep(0.01)
            await queue.add(KEY)
            assert await worked.are(1) == [(KEY, 0)]
            await gone(queue, KEY)
            await emptied(name)
    assert not made.exists()
    assert len(refused) == refusals
    assert caplog.text.count("a foreign or altered entry was refused") == refusals


@pytest.mark.parametrize(
    "altered",
    [
        {"args": b"[]"},
        {"args": b'["ann","run_1",1,{}]'},
        {"args": b'["ann","run_1","1"]'},
        {"args": b'["bob","run_1",1]'},
        {"args": b"[" * 100_000},
        {"args": b"\xff"},
        {"function": b"trace"},
        {"function": b"\xff"},
        {"attempt": b"x"},
        {"key": b"\xff"},
        {"args": b"-"},
        {"attempt": b"-"},
        {"function": b"-", "generation": b"-", "when": b"-"},
        {"traceparent": b"\xff"},
    ],
)
async def test_what_is_no_entry_is_refused_once(name: str, altered: dict[str, bytes]) -> None:
    url, worked, refused = shared_redis().url, Worked(), list[None]()
    async with connected() as client:
        await client.xadd(f"{name}:stream", message(KEY, **altered))
    async with running(url, name, worked, counting=refused) as queue:
        await emptied(name)
        assert worked.runs == []
        await queue.add(KEY)
        assert await worked.are(1) == [(KEY, 0)]
    assert len(refused) == 1


async def written(url: str, name: str, keys: Sequence[str]) -> dict[Any, Any]:
    """The one entry in the stream, of a process with these keys that takes nothing itself."""
    async with running(url, name, Worked.none(), keys=keys) as queue:
        queue.stop()
        await queue.add(KEY, 7)
        async with connected() as client:
            ((_, entry),) = await client.xrange(f"{name}:stream")
    return entry


async def test_an_entry_is_json_and_names_a_run_and_its_version(name: str) -> None:
    entry = await written(shared_redis().url, name, ())
    assert (entry[b"args"], entry[b"kwargs"], entry[b"attempt"]) == (
        b'["ann","run_1",7]',
        b"",
        b"1",
    )


@pytest.mark.slow
async def test_an_entry_that_no_shared_key_has_signed_is_refused(name: str) -> None:
    url = shared_redis().url
    for written_with, read_with, is_refused in (
        ((ONE,), (ONE,), False),
        ((ONE,), (OTHER, ONE), False),
        ((ONE,), (OTHER,), True),
        ((), (ONE,), True),
        ((ONE,), (), False),
    ):
        place, worked, refused = f"{name}:{written_with}{read_with}", Worked(), list[None]()
        await written(url, place, written_with)
        async with running(url, place, worked, keys=read_with, counting=refused) as queue:
            await gone(queue, KEY)
            assert len(refused) == is_refused
            assert len(worked.runs) == (not is_refused)
            if is_refused:  # its run can be queued again
                await queue.add(KEY)
                await worked.are(1)


@pytest.mark.parametrize("field", ["args", "attempt", "name"])
async def test_a_signature_is_for_one_run_one_attempt_and_one_queue(name: str, field: str) -> None:
    url, worked, refused = shared_redis().url, Worked(), list[None]()
    entry = await written(url, f"{name}:one", (ONE,))
    replaced = {"args": {b"args": b'["ann","run_1",8]'}, "attempt": {b"attempt": b"2"}}
    async with connected() as client:
        place = f"{name}:{'two' if field == 'name' else 'one'}"
        await client.delete(f"{place}:stream")
        await client.xadd(f"{place}:stream", entry | replaced.get(field, {}))
    async with running(url, place, worked, keys=[ONE], counting=refused):
        await emptied(place)
    assert (len(refused), worked.runs) == (1, [])


async def test_an_entry_of_a_run_that_has_fewer_entries_is_refused(name: str) -> None:
    refused = list[None]()
    worked = Worked(None)
    async with running(shared_redis().url, name, worked, counting=refused) as queue:
        await queue.add(KEY)
        await worked.are(1)
        await gone(queue, KEY)
    assert len(refused) == 1
