"""Every registered component says how it takes a long text, and does as it says."""

import pytest

from sifaka.isolation import pool
from tests.hostile.components import KINDS, registered, ways
from tests.hostile.texts import TEXTS

pytestmark = pytest.mark.anyio
TEXT = TEXTS["one line"](6_000)
FIRED = sorted(name for name, kind in KINDS.items() if kind != "foreign")


def test_every_registered_component_is_in_the_table() -> None:
    assert registered() == KINDS.keys()


@pytest.mark.parametrize("name", FIRED)
async def test_what_is_limited_goes_through_the_door_and_nothing_else_does(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    went: list[str] = []
    put = pool._Pool.put  # pyright: ignore[reportPrivateUsage]

    def noting(self: pool._Pool, function: object, *rest: object) -> object:  # pyright: ignore[reportPrivateUsage]
        went.append(name)
        return put(self, function, *rest)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(pool._Pool, "put", noting)  # pyright: ignore[reportPrivateUsage]
    for fire in ways(name).values():
        await fire(TEXT)
    assert len(went) == (len(ways(name)) if KINDS[name] == "limited" else 0)
