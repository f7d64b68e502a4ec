"""What is forgotten is gone from the raw bytes, not only from answers."""

import random
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sifaka.embeddings.protocol import Role, Vector
from sifaka.errors import StorageError
from sifaka.record.run import Run
from sifaka.storage.cached import CachedStorage
from sifaka.storage.files import FileStorage
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.redis import RedisStorage
from sifaka.storage.retention import Policy, carry_out, plan
from sifaka.storage.sqlite import SQLiteStorage
from tests.sifaka.storage.cached.layered import SearchIndexInMemory
from tests.storage_contract.index_kinds import IndexOfLog
from tests.storage_contract.runs import entries_of, made
from tests.stubs.redis_server import RedisServer, redis_server
from tests.stubs.runs import catch_up

pytestmark = pytest.mark.anyio
RUNS = 60
KEPT = 5
NEWEST = Policy(max_runs=KEPT, keep_unfinished=False)


class Numbers:
    """An embedder whose vectors are found again in a file."""

    model_id = "test:numbers"

    async def dimension(self) -> int:
        return 16

    async def embed(self, texts: Sequence[str], *, role: Role) -> tuple[Vector, ...]:
        return tuple(vector_of(text) for text in texts)


def vector_of(text: str) -> Vector:
    numbers = random.Random(text)  # noqa: S311 - no secret
    values = [numbers.gauss(0, 1) for _ in range(16)]
    length = sum(value * value for value in values) ** 0.5
    return tuple(value / length for value in values)


def secret(number: int) -> str:
    """A word that only one run has."""
    letters = random.Random(f"secret {number}")  # noqa: S311 - to look for, not to keep
    return "".join(letters.choices("bcdfghjklmnpqrtvwz", k=14))


def text_of(number: int) -> str:
    return f"The refund of {secret(number)} is due within 14 days. " * (1 + number % 40)


async def fill(store: ThoughtStore, runs: int = RUNS) -> list[Run]:
    filled: list[Run] = []
    for number in range(runs):
        entries = entries_of(made(text_of(number), prompt=f"Ask {secret(1000 + number)}."))
        run = Run.replay(entries)
        await store.append(run, entries, expected_version=0)
        filled.append(run)
    await catch_up(store)
    return filled


def content(folder: Path) -> bytes:
    """The bytes of all files, names and write-ahead logs included."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\n".join([*(path.name.encode() for path in files), *(f.read_bytes() for f in files)])


def left_of(numbers: Sequence[int], held: bytes) -> list[int]:
    """The runs of which a word is in the bytes."""
    words = {number: (secret(number), secret(1000 + number)) for number in numbers}
    return [n for n, found in words.items() if any(word.encode() in held for word in found)]


def embedded(runs: Sequence[Run], held: bytes) -> list[Run]:
    """The runs whose vector is in the bytes."""
    texts = {run.run_id: f"{run.prompt}\n\n{run.thoughts[0].text}".strip() for run in runs}
    return [run for run in runs if array("f", vector_of(texts[run.run_id])).tobytes() in held]


def sqlite(folder: Path) -> ThoughtStore:
    return SQLiteStorage(folder / "runs.db", embedder=Numbers())


def files(folder: Path) -> ThoughtStore:
    return FileStorage(folder / "runs")


def several(folder: Path) -> ThoughtStore:
    """A log and an index, behind a cache and an outbox."""
    parts = (
        MemoryStorage(),
        SQLiteStorage(folder / "runs.db", embedder=Numbers()),
        IndexOfLog(FileStorage(folder / "index")),
    )
    return CachedStorage(*parts, queue=folder / "queue.db")


@pytest.mark.slow
@pytest.mark.parametrize("make", [sqlite, files, several])
async def test_no_forgotten_text_word_or_vector_is_left_in_a_file(
    make: Callable[[Path], ThoughtStore], tmp_path: Path
) -> None:
    store = make(tmp_path)
    runs = await fill(store)
    assert left_of(range(RUNS), content(tmp_path)) == list(range(RUNS))
    if make is sqlite:
        assert (
            len(embedded(runs, content(tmp_path))) > RUNS * 0.9
        )  # the others lie across two pages

    outcome = await carry_out(store, await plan(store, NEWEST))

    assert len(outcome.gone) == RUNS - KEPT
    there = content(tmp_path)  # before it is closed
    assert left_of(range(RUNS - KEPT), there) == []
    assert embedded(runs[:-KEPT], there) == []
    assert left_of(range(RUNS), there) == list(range(RUNS - KEPT, RUNS))
    for number in range(RUNS - KEPT, RUNS):
        assert await store.load(runs[number].run_id) == runs[number]
        hits = (await store.search(secret(number), limit=RUNS)).hits
        assert runs[number].run_id in {hit.run_id for hit in hits}
    await store.aclose()
    assert left_of(range(RUNS - KEPT), content(tmp_path)) == []


async def test_a_run_that_is_deleted_alone_leaves_no_text_and_soon_no_word(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "runs.db")
    runs = await fill(store, 3)
    await store.delete(runs[0].run_id)
    sentence = text_of(0)[:60].encode()
    assert sentence not in content(tmp_path)
    assert await store.catch_up() == 0
    assert left_of(range(3), content(tmp_path)) == [1, 2]
    await store.aclose()


async def test_the_file_shrinks_when_much_of_it_is_free(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SQLiteStorage(path)
    await fill(store)
    await store.aclose()
    before = path.stat().st_size
    store = SQLiteStorage(path)
    await carry_out(store, await plan(store, NEWEST))
    await store.aclose()
    assert path.stat().st_size < before / 2


async def test_entries_that_waited_for_a_log_that_was_down_leave_the_outbox(tmp_path: Path) -> None:
    server = RedisServer()
    server.start()
    log = RedisStorage(server.url)
    await log.recent(limit=1)
    server.kill()
    store = CachedStorage(MemoryStorage(), log, queue=tmp_path / "queue.db", retry_after=0)
    (run,) = await fill(store, 1)
    with pytest.raises(StorageError, match="wait until"):
        await store.delete(run.run_id)
    assert left_of([0], content(tmp_path)) == [0]

    server.start()
    await store.delete(run.run_id)

    assert left_of([0], content(tmp_path)) == []
    await store.aclose()
    server.kill()


async def test_no_key_and_no_text_is_left_in_redis(tmp_path: Path) -> None:
    with redis_server("--dir", str(tmp_path), "--rdbcompression", "no") as server:
        store = RedisStorage(server.url)
        runs = await fill(store)
        run = store.connections.run
        await run(lambda client: client.execute_command("SAVE"))
        assert left_of(range(RUNS), content(tmp_path)) != []

        outcome = await carry_out(store, await plan(store, NEWEST))

        assert len(outcome.gone) == RUNS - KEPT
        keys = await run(lambda client: client.execute_command("KEYS", "*"))
        kept = {run.run_id for run in runs[-KEPT:]}
        assert {key.decode().split(":")[3] for key in keys} <= {*kept, "recent"}
        await run(lambda client: client.execute_command("SAVE"))
        assert left_of(range(RUNS - KEPT), content(tmp_path)) == []
        await store.aclose()


async def test_runs_whose_log_is_down_stay_in_every_part(tmp_path: Path) -> None:
    server = RedisServer(appendfsync="always")
    server.start()
    index = SearchIndexInMemory()
    parts = (MemoryStorage(), RedisStorage(server.url), index)
    store = CachedStorage(*parts, queue=tmp_path / "queue.db", retry_after=0)
    await fill(store, 4)
    planned = await plan(store, Policy(max_runs=1, keep_unfinished=False))
    server.kill()

    outcome = await carry_out(store, planned)

    assert (len(outcome.gone), len(outcome.failed)) == (0, 3)
    server.start()
    await catch_up(store)
    assert len(index.runs) == 4

    outcome = await carry_out(store, planned)

    assert (len(outcome.gone), len(outcome.failed)) == (3, 0)
    assert len(index.runs) == len((await store.recent(limit=9)).runs) == 1
    await store.aclose()
    server.close()
