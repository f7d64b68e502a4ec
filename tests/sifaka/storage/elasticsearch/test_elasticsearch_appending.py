"""What happens when an append breaks off, or several meet."""

import asyncio
from collections.abc import Callable

import anyio
import pytest

from sifaka.errors import StorageError, ThoughtNotFound, VersionConflict
from sifaka.record.entries import Drafted, Entry
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.elasticsearch import ElasticsearchStorage
from tests.stubs.elasticsearch_errors import rejected
from tests.stubs.elasticsearch_server import ElasticsearchServer, Request

pytestmark = pytest.mark.anyio
Made = Callable[..., tuple[Run, tuple[Entry, ...]]]


def following(run: Run, *texts: str) -> tuple[Run, list[Entry]]:
    entries: list[Entry] = []
    for text in texts:
        thought = Thought(run_id=run.run_id, iteration=len(run.thoughts), text=text)
        entries.append(Drafted(thought=thought))
        run = run.apply(entries[-1])
    return run, entries


def committing(request: Request) -> bool:
    return request.method == "PUT" and "/sifaka-runs/" in request.path


def refusing(matches: Callable[[Request], bool]) -> Callable[[Request], None]:
    def intercept(request: Request) -> None:
        if matches(request):
            raise rejected()

    return intercept


async def test_what_was_never_committed_is_not_read_and_is_written_over(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("x")
    await store.append(run, entries, expected_version=0)
    lost, lost_entries = following(run, "lost one", "lost two", "lost three")
    server.intercept = refusing(committing)
    with pytest.raises(StorageError) as caught:
        await store.append(lost, lost_entries, expected_version=run.version)
    assert caught.value.retryable
    server.intercept = None

    assert await store.load("run_1") == run
    after, kept = following(run, "kept one", "kept two")
    await store.append(after, kept, expected_version=run.version)

    assert await store.load("run_1") == after
    assert [hit.thought_id for hit in (await store.search("lost", limit=5)).hits] == []
    further, more = following(after, "kept three", "kept four")
    await store.append(further, more, expected_version=after.version)
    assert await store.load("run_1") == further


async def test_an_append_that_broke_off_can_be_repeated(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("x")
    server.intercept = refusing(committing)
    with pytest.raises(StorageError):
        await store.append(run, entries, expected_version=0)
    with pytest.raises(ThoughtNotFound):
        await store.load("run_1")
    server.intercept = None

    await store.append(run, entries, expected_version=0)

    assert await store.load("run_1") == run


@pytest.mark.parametrize("place", ["/sifaka-entries/_bulk", "/sifaka-runs/_doc/"])
async def test_an_append_whose_answer_is_lost_is_done_once(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made, place: str
) -> None:
    run, entries = drafted("x")
    await store.append(run, entries, expected_version=0)
    after, more = following(run, "once")
    lost = iter([True])

    def lose(request: Request) -> bool:
        return request.method != "GET" and place in request.path and next(lost, False)

    server.lose = lose
    await store.append(after, more, expected_version=run.version)

    assert next(lost, None) is None, "nothing was lost"
    assert await store.load("run_1") == after


async def test_a_run_whose_creation_is_not_answered_is_whole(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("A heron.")
    lost = iter([True])
    server.lose = lambda request: "_create" in request.path and next(lost, False)

    await store.append(run, entries, expected_version=0)

    assert next(lost, None) is None, "nothing was lost"
    assert await store.load("run_1") == run
    assert len((await store.search("heron", limit=5)).hits) == 1


async def test_who_is_overtaken_before_the_commit_commits_nothing_of_others(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("x")
    await store.append(run, entries, expected_version=0)
    slow, slow_entries = following(run, "slow")
    fast, fast_entries = following(run, "fast")

    async def overtake() -> None:
        url = f"elasticsearch+http://{server.host}"
        other = ElasticsearchStorage.of_url(url)
        await other.append(fast, fast_entries, expected_version=run.version)
        await other.aclose()

    def intercept(request: Request) -> None:
        # The slow one has written its entry and is about to commit it.
        if committing(request):
            server.intercept = None
            anyio.run(overtake)

    server.intercept = intercept
    with pytest.raises(VersionConflict):
        await store.append(slow, slow_entries, expected_version=run.version)

    assert await store.load("run_1") == fast


async def test_who_writes_over_an_entry_stops_the_commit_of_its_writer(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("x")
    await store.append(run, entries, expected_version=0)
    slow, slow_entries = following(run, "slow")
    fast, fast_entries = following(run, "fast")
    commits: list[Request] = []

    async def take_its_place_and_fail() -> None:
        other = ElasticsearchStorage.of_url(f"elasticsearch+http://{server.host}")
        with pytest.raises(StorageError, match="429"):
            await other.append(fast, fast_entries, expected_version=run.version)
        await other.aclose()

    def intercept(request: Request) -> None:
        if committing(request) and request.json["version"] == slow.version:
            commits.append(request)
            if len(commits) == 1:
                anyio.run(take_its_place_and_fail)
                server.intercept = None
            else:
                raise rejected()

    server.intercept = intercept
    await store.append(slow, slow_entries, expected_version=run.version)

    assert len(commits) == 2
    assert await store.load("run_1") == slow


async def test_two_that_create_the_same_run_share_nothing(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    slow, slow_entries = drafted("slow")
    fast, fast_entries = drafted("fast")

    async def overtake() -> None:
        other = ElasticsearchStorage.of_url(f"elasticsearch+http://{server.host}")
        await other.append(fast, fast_entries, expected_version=0)
        await other.aclose()

    def intercept(request: Request) -> None:
        if "_create" in request.path:
            server.intercept = None
            anyio.run(overtake)

    server.intercept = intercept
    with pytest.raises(VersionConflict):
        await store.append(slow, slow_entries, expected_version=0)

    assert await store.load("run_1") == fast


async def test_a_cancelled_append_is_finished(
    server: ElasticsearchServer, store: ElasticsearchStorage, drafted: Made
) -> None:
    run, entries = drafted("A heron.")

    loop = asyncio.get_running_loop()

    def intercept(request: Request) -> None:
        if request.path.endswith("_bulk"):
            loop.call_soon_threadsafe(scope.cancel)

    server.intercept = intercept
    with anyio.CancelScope() as scope:
        await store.append(run, entries, expected_version=0)
        await anyio.lowlevel.checkpoint()
    server.intercept = None

    assert scope.cancelled_caught
    assert await store.load("run_1") == run
    assert len((await store.search("heron", limit=5)).hits) == 1
