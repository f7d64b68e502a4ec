"""Each component that reads foreign text, on longer and longer hostile texts.

A row for each: how its processor time grows from 20,000 to 40,000 and 80,000 characters of each
kind, and what goes on after a call is cancelled.
"""

import asyncio
from collections.abc import Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from time import process_time

import anyio

from sifaka.evidence.sources.readers import READERS, NotText
from sifaka.isolation import pool
from tests.attack.table import Row
from tests.hostile.components import KINDS, Fire, registered, ways
from tests.hostile.texts import TEXTS

SIZES = (20_000, 40_000, 80_000)
LARGER = (40_000, 80_000, 160_000)
"""Sizes that decide where a step is at a bound, as of what is kept of texts that are shorter."""
FACTOR = 2.5
"""By which the time may grow with twice the text, on the average of two steps: the noise of a
machine is no step."""
UNNOTICED = 0.1
"""Seconds of processor time that are not looked into further."""
LEFT = 0.25
"""Seconds of processor time that may be spent on a call after it was cancelled."""
_AGAIN = 3
"""Times that what seems slow is measured again: what is slow is slow each time."""
_AT_ONCE = 2
_READERS = {read: f"reader {suffix}" for suffix, read in READERS.items()}
"""One suffix of each reader."""
_GIVEN_UP = "took too much"


def growth(only: str = "") -> Generator[Row]:
    """A row for each registered component whose name has these words in it."""
    if unknown := registered() ^ KINDS.keys():
        yield Row(fired=", ".join(sorted(unknown)), must="be in the table", measured="", held=False)
    twice = {f"reader {suffix}" for suffix in READERS} - set(_READERS.values())
    known = (registered() & KINDS.keys()) - twice
    names = sorted(name for name in known if KINDS[name] != "foreign" and only in name)
    with ProcessPoolExecutor(_AT_ONCE, get_context("spawn")) as processes:
        yield from processes.map(_row, names)


def _row(name: str) -> Row:
    return anyio.run(_attacked, name)


async def _attacked(name: str) -> Row:
    worst, faults = (0.0, "one line"), list[str]()
    for way, fire in ways(name).items():
        await _fired(fire, "Warm.")
        await _fired(fire, TEXTS["one line"](6_000))
        for kind in TEXTS:
            costs = await _costs(fire, kind)
            worst = max(worst, (costs[-1], kind))
            if not _grows_slowly(costs):
                told = ", ".join(f"{cost:.2f}" for cost in costs)
                faults.append(f"{way}, {kind}: {told} s")
        left = await _left_after_cancelling(fire, worst[1])
        if left > LEFT:
            faults.append(f"{way}: {left:.2f} s after the call was cancelled")
    return Row(
        fired=f"{len(TEXTS)} kinds of up to {SIZES[-1]:,} characters at the {name}",
        must=f"at most {FACTOR} times the processor time for twice the text, and nothing after a "
        "call is cancelled",
        measured="; ".join((f"at most {worst[0]:.2f} s ({worst[1]})", *faults)),
        held=not faults,
    )


async def _costs(fire: Fire, kind: str) -> Sequence[float]:
    """The seconds that each size takes, the least of some trials where they grow fast."""
    costs = list[float]()
    for sizes in (SIZES, LARGER):
        costs = [await _cost(fire, kind, size) for size in sizes]
        for _ in range(_AGAIN):
            if _grows_slowly(costs):
                return costs
            costs = [min(c, await _cost(fire, kind, s)) for c, s in zip(costs, sizes, strict=True)]
    return costs


def _grows_slowly(costs: Sequence[float]) -> bool:
    return costs[-1] <= max(FACTOR**2 * costs[0], UNNOTICED)


async def _cost(fire: Fire, kind: str, size: int) -> float:
    before = _spent()
    if not await _fired(fire, TEXTS[kind](size)):
        return float("inf")
    after = _spent()
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


_number = iter(range(10**9))


async def _fired(fire: Fire, text: str) -> bool:
    """Fire a text that was never fired before; False when it was given up."""
    try:
        told = await fire(f"{text}\n{next(_number)}")
    except NotText:
        return True
    except (TimeoutError, MemoryError, ChildProcessError):
        return False
    return _GIVEN_UP not in str(told) and "takes too much" not in str(told)


async def _left_after_cancelling(fire: Fire, kind: str) -> float:
    """The seconds that are spent, within one, on a call that was cancelled at its beginning."""
    task = asyncio.ensure_future(_fired(fire, TEXTS[kind](SIZES[-1])))
    await asyncio.wait([task], timeout=0.05)
    task.cancel()
    before = _spent()
    with suppress(asyncio.CancelledError):
        await task
    await asyncio.sleep(1)
    after = _spent()
    # A process that has begun since then waits for the next work.
    return sum(after[pid] - seconds for pid, seconds in before.items() if pid in after)


def _spent() -> dict[int, float]:
    """The processor time of this process and of its workers, by their ids."""
    workers = pool._pool()._workers  # pyright: ignore[reportPrivateUsage]
    children = [each._process for each in tuple(workers)]  # pyright: ignore[reportPrivateUsage]
    spent = {0: process_time()}
    for child in filter(None, children):
        with suppress(OSError):  # it has ended
            nanoseconds = Path(f"/proc/{child.pid}/task/{child.pid}/schedstat").read_text("ascii")
            spent[child.pid] = int(nanoseconds.split()[0]) / 1e9
    return spent
