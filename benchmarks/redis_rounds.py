"""One round of each thing that `redis_append` compares."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha1
from time import perf_counter, process_time

import anyio

from benchmarks.redis_alone import (
    CONNECTIONS,
    Recording,
    Word,
    as_bytes,
    commands_per_second,
    packed,
    redis_benchmark,
    server_info,
    server_seconds,
)
from benchmarks.stored_runs import Append, at_once
from sifaka.storage.address import REDIS, parse_store_url
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.connections import RedisConnections
from tests.stubs.redis_server import RedisServer

_SMALL, _LARGE = 20_000, 4_000
"""Commands of redis-benchmark with an iteration, and with a document."""

_REWRITE = """
if tonumber(redis.call('GET', KEYS[1]) or 0) ~= tonumber(ARGV[1]) then return {'CONFLICT', 0} end
redis.call('SET', KEYS[1], ARGV[1] + 1)
redis.call('SET', KEYS[2], ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[4])
return {'OK', 0}
"""
"""Writes a document unless another writer has meanwhile, and notes it in the list of runs."""

Runs = Sequence[Sequence[Append]]
_Write = Callable[[Append], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The speed of one operation."""

    rate: float
    """Operations a second."""
    processor: float
    """Seconds of processor time for each, in the server or in Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FromPython:
    """The writing of whole runs from Python."""

    last: Speed
    """At the last iteration."""
    overall: float
    """Iterations a second, over all of them."""
    log: float
    """Bytes in the server's append-only file for a run."""


async def appended_from_python(server: RedisServer, runs: Runs) -> FromPython:
    """By `append` of the store."""
    store = RedisStorage(server.url)

    async def write(step: Append) -> None:
        await store.append(step.run, step.entries, expected_version=step.expected_version)

    try:
        return await _from_python(server, write, runs)
    finally:
        await store.aclose()


async def rewritten_from_python(server: RedisServer, runs: Runs, *, checked: bool) -> FromPython:
    """By writing the JSON of the whole run, over connections of the same kind."""
    connections = RedisConnections(parse_store_url(server.url, REDIS))

    async def write(step: Append) -> None:
        words = _rewriting(step, step.run.model_dump_json(), step.expected_version, checked)
        await connections.run(lambda client: client.execute_command(*words))

    try:
        return await _from_python(server, write, runs)
    finally:
        await connections.aclose()


async def appended_alone(server: RedisServer, runs: Runs) -> Speed:
    """Every iteration of every run, by the server alone."""
    recording = Recording()
    store, recorder = RedisStorage(server.url), RedisStorage(server.url)
    recorder.connections = recording
    for first, *_ in runs:
        await store.append(first.run, first.entries, expected_version=0)
    for steps in zip(*(run[1:] for run in runs), strict=True):
        for step in steps:
            await recorder.append(step.run, step.entries, expected_version=step.expected_version)
    await store.aclose()
    return _alone(server, recording.commands, answer=b"*2\r\n$2\r\nOK")


def rewritten_alone(server: RedisServer, runs: Runs, *, checked: bool) -> Speed:
    """As often the document of a run at its last iteration, by the server alone."""
    document = runs[0][-1].run.model_dump_json()
    commands = [
        _rewriting(run[-1], document, before, checked)
        for before in range(len(runs[0]) - 1)
        for run in runs
    ]
    answer = b"*2\r\n$2\r\nOK" if checked else b"+OK"
    return _alone(server, commands, answer=answer)


def load_script(server: RedisServer) -> None:
    """Loads the script that writes documents with a check."""
    from redis import Redis

    with Redis(port=server.port) as client:
        assert client.script_load(_REWRITE) == _digest()


async def by_redis_benchmark(server: RedisServer, run: Sequence[Append]) -> Mapping[str, float]:
    """Commands a second, by what they do; nothing where the program is not installed."""
    recording = Recording()
    begun = at_once(run[:2])
    store = RedisStorage(server.url)
    await store.append(begun.run, begun.entries, expected_version=0)  # the server knows the script
    await store.aclose()
    recorder = RedisStorage(server.url)
    recorder.connections = recording
    await recorder.append(begun.run, begun.entries, expected_version=0)
    run_id = begun.run.run_id.encode()
    (append,) = [
        [as_bytes(word).replace(run_id, b"run___rand_int__") for word in words]
        for words in recording.commands
    ]
    iteration = run[1].entries[0].model_dump_json()
    tried: Mapping[str, tuple[int, Sequence[Word]]] = {
        "SET of an iteration": (_SMALL, ("SET", "iteration:__rand_int__", iteration)),
        "XADD of an iteration": (_SMALL, ("XADD", "iterations", "*", "e", iteration)),
        "append that begins a run": (_SMALL, append),
        "SET of a document": (_LARGE, ("SET", "document", run[-1].run.model_dump_json())),
    }
    rates = {
        name: redis_benchmark(server.port, count, words) for name, (count, words) in tried.items()
    }
    return {name: rate for name, rate in rates.items() if rate is not None}


async def _from_python(server: RedisServer, write: _Write, runs: Runs) -> FromPython:
    logged = server_info(server.port, "persistence")["aof_current_size"]
    walls: list[float] = []
    processor = 0.0
    # The nth step of every run before the next one of any: the first, which begins the runs and is
    # left out of the times, makes the connections.
    for steps in zip(*runs, strict=True):
        wall, used = perf_counter(), process_time()
        async with anyio.create_task_group() as group:
            for number in range(CONNECTIONS):
                group.start_soon(_write_all, write, steps[number::CONNECTIONS])
        walls.append(perf_counter() - wall)
        processor = process_time() - used
    logged = server_info(server.port, "persistence")["aof_current_size"] - logged
    return FromPython(
        last=Speed(rate=len(runs) / walls[-1], processor=processor / len(runs)),
        overall=len(runs) * len(walls[1:]) / sum(walls[1:]),
        log=logged / len(runs),
    )


async def _write_all(write: _Write, steps: Sequence[Append]) -> None:
    for step in steps:
        await write(step)


def _alone(server: RedisServer, commands: Sequence[Sequence[Word]], *, answer: bytes) -> Speed:
    ready = [packed(words) for words in commands]
    used = server_seconds(server.port)
    rate = commands_per_second(server.port, ready, answer=answer)
    used = server_seconds(server.port) - used
    return Speed(rate=rate, processor=used / len(ready))


def _rewriting(step: Append, document: str, before: int, checked: bool) -> Sequence[Word]:
    """The command that writes a document that has been written so many times before."""
    run_id = step.run.run_id
    if not checked:
        return ("SET", f"blind:{run_id}", document)
    keys = (f"version:{run_id}", f"document:{run_id}", "documents")
    at = to_microseconds(step.run.updated_at)
    return ("EVALSHA", _digest(), len(keys), *keys, before, document, at, run_id)


def _digest() -> str:
    return sha1(_REWRITE.encode(), usedforsecurity=False).hexdigest()
