from collections.abc import Awaitable, Callable
from itertools import combinations

import pytest

from sifaka.errors import ThoughtNotFound
from sifaka.record.run import Run
from sifaka.storage.redis import RedisStorage
from sifaka.storage.redis.log import Keys

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]
ODD = (
    *("", "42", "Key x", "a\0b", "'; DROP", "ünï", "👩‍👩‍👧", "%72ecent", "a:it", "a", "a:children"),
    *("recent", "cursor", "{b}", "*", "run_0\n", "x" * 500),
)


async def test_ids_of_all_kinds_are_runs_of_their_own(store: RedisStorage, keep: Keep) -> None:
    runs = [await keep(store, f"text {n}", run_id=run_id) for n, run_id in enumerate(ODD)]

    for run in runs:
        assert await store.load(run.run_id) == run
        assert await store.claim(run.run_id) == 1
    page = await store.recent(limit=len(ODD))
    assert [line.run_id for line in page.runs] == list(reversed(ODD))
    assert page.next_cursor is None
    for run_id in ODD:
        await store.delete(run_id)
    assert (await store.recent(limit=1)).runs == ()


async def test_tenants_of_all_kinds_are_apart(store: RedisStorage, keep: Keep) -> None:
    tenants = ("a", "A", "a}:x", "{a}", "", "a:b", "ü", "team/a", "\ud800")
    for tenant in tenants:
        await keep(store.scoped(tenant), tenant.encode(errors="replace").decode(), run_id="same")

    for tenant in tenants:
        text = (await store.scoped(tenant).load("same")).thoughts[0].text
        assert text == tenant.encode(errors="replace").decode()
    with pytest.raises(ThoughtNotFound):
        await store.load("same")


def test_no_two_keys_are_the_same_and_a_tenants_share_a_slot() -> None:
    names: list[str] = []
    for tenant in ("a", "b", "a}:{b", "{b}"):
        keys = Keys("sifaka", tenant)
        own = [keys.recent]
        for run_id in (*ODD, "\ud800", "\udfff"):
            own += [keys.run(run_id), keys.entries(run_id)]
        assert len({name[: name.index("}") + 1] for name in own}) == 1
        assert all(name.count("{") == name.count("}") == 1 for name in own)
        names += own
    assert not [pair for pair in combinations(names, 2) if pair[0] == pair[1]]


def test_the_layout_of_keys_is_what_is_documented() -> None:
    keys = Keys("sifaka", "ann")
    assert keys.run("run_1") == "sifaka:run:{ann}:run_1"
    assert keys.entries("run_1") == "sifaka:run:{ann}:run_1:it"
    assert keys.recent == "sifaka:run:{ann}:recent"
