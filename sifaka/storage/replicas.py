"""Replicas of a log: search indexes, and copies."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeVar

from sifaka.errors import AppendRefused
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage.cache import State
from sifaka.storage.index import SearchIndex
from sifaka.storage.log import load_if_there
from sifaka.storage.parts import Part
from sifaka.storage.protocol import ThoughtStore

T = TypeVar("T")
_KNOWN_RUNS = 128
"""Runs of which it is remembered what a replica holds, so that it need not be read to go on."""


class IndexReplica(Part[SearchIndex]):
    """An index, which is given each run as it is."""

    def __init__(self, name: str, inner: SearchIndex, retry_after: float) -> None:
        super().__init__(name, inner, retry_after)
        self._put: OrderedDict[tuple[str, str], tuple[int, bool]] = OrderedDict()

    async def bring(self, tenant: str, state: State, *, renew: bool = False) -> bool:
        """Make the versions of a run findable as they are in this state; True."""
        run, key = state.run, (tenant, state.run.run_id)
        count, passed = self._put.pop(key, (0, run.passed))
        # Whether the run passes is said with each of its versions.
        first = 0 if renew or passed != run.passed or count > len(run.thoughts) else count
        with self.attempt():
            await self.inner.scoped(tenant).put(run, first=first)
        _remember(self._put, key, (len(run.thoughts), run.passed))
        return True

    async def forget(self, tenant: str, run_id: str) -> None:
        """Drop a run."""
        self._put.pop((tenant, run_id), None)
        with self.attempt():
            await self.inner.scoped(tenant).drop(run_id)


class CopyReplica(Part[ThoughtStore]):
    """A copy of the log: its archive, which has the entries a moment later."""

    def __init__(self, name: str, inner: ThoughtStore, retry_after: float) -> None:
        super().__init__(name, inner, retry_after)
        self._held: OrderedDict[tuple[str, str], Run] = OrderedDict()

    async def bring(self, tenant: str, state: State, *, renew: bool = False) -> bool:
        """Append what the copy lacks of a run.

        Args:
            tenant: Whose run it is.
            state: The run as it has to be.
            renew: Whether to replace what the copy holds besides.

        Returns:
            Whether the copy holds this state now; otherwise it needs one with all entries.
        """
        run, view = state.run, self.inner.scoped(tenant)
        key = (tenant, run.run_id)
        held = self._held.pop(key, None)
        with self.attempt():
            if held is None or renew:
                held = await load_if_there(view, run.run_id)
            if held != run:
                if renew and held is not None and not _begins(state, held):
                    await view.delete(run.run_id)
                    held = None
                version = held.version if held else 0
                lacking = state.since(version)
                if version > run.version or lacking is None or not _leads_to(held, lacking, run):
                    return False
                try:
                    await view.append(run, lacking, expected_version=version)
                except AppendRefused:
                    return False
        _remember(self._held, key, run)
        return True

    async def forget(self, tenant: str, run_id: str) -> None:
        """Delete a run."""
        self._held.pop((tenant, run_id), None)
        with self.attempt():
            await self.inner.scoped(tenant).delete(run_id)


Replica = IndexReplica | CopyReplica


def _begins(state: State, held: Run) -> bool:
    lacking = state.since(held.version)
    return lacking is not None and _leads_to(held, lacking, state.run)


def _leads_to(held: Run | None, entries: Sequence[Entry], run: Run) -> bool:
    """True when these entries turn one state of a run into another."""
    try:
        if held is None:
            return bool(entries) and Run.replay(entries) == run
        for entry in entries:
            held = held.apply(entry)
    except (KeyError, ValueError):
        return False
    return held == run


def _remember(known: OrderedDict[tuple[str, str], T], key: tuple[str, str], value: T) -> None:
    known[key] = value
    while len(known) > _KNOWN_RUNS:
        known.popitem(last=False)
