from typing import Any

import anyio
import pytest

from sifaka.storage.protocol import SearchIndex
from tests.storage_contract.runs import made, next_draft

pytestmark = pytest.mark.anyio
SECONDS = 3.0


async def found(index: SearchIndex, query: str) -> set[str]:
    return {hit.run_id for hit in (await index.search(query, limit=9)).hits}


@pytest.mark.parametrize(
    "text",
    ["", "naïve café — 日本語, e\u0301, \u200b👩‍👩‍👧 \U0010ffff \x01", "70 KB ü " * 9000],
    ids=["empty", "unicode", "70KB"],
)
async def test_every_version_that_was_put_is_read_whole(index: SearchIndex, text: str) -> None:
    run = made("first", text, "third", prompt="Write it.", tags=("legal",))
    await index.put(run)
    longer = run.apply(next_draft(run, "fourth"))
    await index.put(longer, first=3)

    assert await index.thoughts(run.run_id) == longer.thoughts
    assert await index.scoped("guest").thoughts(run.run_id) == ()
    assert await index.thoughts("run_0") == ()


async def test_a_run_that_is_dropped_is_nowhere_any_more(index: SearchIndex) -> None:
    run, kept = made("The zebra sleeps.", prompt="stripes"), made("The zebra eats.")
    await index.put(run)
    await index.put(kept)

    for _ in range(2):  # a second time, and one that never was
        await index.drop(run.run_id)
        await index.drop("run_0")

        assert await found(index, "zebra stripes") == {kept.run_id}
        assert await index.thoughts(run.run_id) == ()
    await index.put(run)
    assert await found(index, "stripes") == {run.run_id}


async def test_a_search_shows_the_tenants_own_runs(index: SearchIndex) -> None:
    ann, bob = index.scoped("ann"), index.scoped("bob")
    anns, bobs = made("a secret plan"), made("a secret garden")
    await ann.put(anns)
    await bob.put(bobs)

    assert await found(ann, "secret") == {anns.run_id}
    assert await found(bob, "plan") == set()
    await bob.drop(anns.run_id)
    assert await found(ann, "plan") == {anns.run_id}
    assert await found(index, "secret") == set()


async def test_an_index_that_works_says_so(index: SearchIndex) -> None:
    await index.put(made("x"))
    while await index.catch_up():
        pass

    assert index.place
    assert all(part.works for part in await index.health())


async def test_a_run_that_has_expired_is_found_no_more(index_kind: Any, tmp_path: Any) -> None:
    if not hasattr(index_kind, "make_expiring"):
        pytest.skip("indexes of this kind keep runs until they are dropped")
    index: SearchIndex = index_kind.make_expiring(tmp_path / "index", SECONDS)
    run, other = made("The zebra sleeps."), made("The zebra eats.")
    await index.put(other)
    await index.put(run)

    with anyio.fail_after(60):
        while other.run_id in await found(index, "zebra"):
            run = run.apply(next_draft(run, "The zebra runs."))
            await index.put(run, first=len(run.thoughts) - 1)
            await anyio.sleep(SECONDS / 10)
    assert run.run_id in await found(index, "zebra sleeps")
    with anyio.fail_after(60):
        while await found(index, "zebra"):  # noqa: ASYNC110 - nothing tells of it
            await anyio.sleep(0.05)
    while await index.catch_up():
        pass
    assert await index.thoughts(other.run_id) == ()
    await index.aclose()
