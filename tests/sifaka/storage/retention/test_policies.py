from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import pytest
from pydantic import ValidationError

from sifaka.record.run import Run
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.retention import Policy, plan

pytestmark = pytest.mark.anyio
Keep = Callable[..., Awaitable[Run]]


@pytest.fixture
async def store(keep: Keep) -> MemoryStorage:
    """Runs of 1 to 5 days, of which that of 2 and that of 5 days are not finished."""
    store = MemoryStorage()
    for days in range(1, 6):
        await keep(store, f"run_{days}", days=days, text="x" * 1000, finished=days not in {2, 5})
    return store


async def leaving(store: MemoryStorage, now: datetime, **policy: object) -> list[str]:
    planned = await plan(store, Policy.model_validate(policy), now)
    assert planned.kept_runs == 5 - len(planned.leaving)
    return [line.run.run_id for line in planned.leaving]


async def test_without_a_limit_everything_stays(store: MemoryStorage, now: datetime) -> None:
    assert await leaving(store, now) == []


async def test_by_age_all_that_are_older_leave_finished_or_not(
    store: MemoryStorage, now: datetime
) -> None:
    assert await leaving(store, now, max_age=timedelta(days=3)) == ["run_4", "run_5"]
    assert await leaving(store, now, max_age=timedelta(days=3, seconds=-1)) == [
        *("run_3", "run_4", "run_5")
    ]


async def test_by_number_the_newest_stay_and_the_unfinished_too(
    store: MemoryStorage, now: datetime
) -> None:
    assert await leaving(store, now, max_runs=2) == ["run_3", "run_4"]
    assert await leaving(store, now, max_runs=0) == ["run_1", "run_3", "run_4"]
    assert await leaving(store, now, max_runs=5) == []
    assert await leaving(store, now, max_runs=2, keep_unfinished=False) == [
        *("run_3", "run_4", "run_5")
    ]


async def test_what_leaves_says_why(store: MemoryStorage, now: datetime) -> None:
    policy = Policy(max_age=timedelta(days=4), max_runs=3, keep_unfinished=False)
    reasons = {line.run.run_id: line.reason for line in (await plan(store, policy, now)).leaving}
    assert reasons == {
        "run_4": "beyond the number",
        "run_5": "too old",
    }


async def test_more_runs_than_a_page_holds_are_all_seen(keep: Keep, now: datetime) -> None:
    store = MemoryStorage()
    for number in range(230):
        await keep(store, f"run_{number}", days=number)
    planned = await plan(store, Policy(max_runs=10), now)
    assert [line.run.run_id for line in planned.leaving] == [f"run_{n}" for n in range(10, 230)]


async def test_a_policy_is_for_one_tenant(store: MemoryStorage, keep: Keep, now: datetime) -> None:
    await keep(store.scoped("guest"), "theirs", days=9)
    assert "theirs" not in await leaving(store, now, max_runs=0)
    theirs = await plan(store.scoped("guest"), Policy(max_runs=0), now)
    assert [line.run.run_id for line in theirs.leaving] == ["theirs"]


@pytest.mark.parametrize("limit", [{"max_age": -1}, {"max_runs": -1}])
def test_a_limit_below_nothing_is_refused(limit: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        Policy.model_validate(limit)
