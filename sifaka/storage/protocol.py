"""What everything above the storage sees: an index that is searched, and a store of runs."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import reduce
from typing import Protocol, Self, runtime_checkable

from sifaka._internal.immutable import Frozen
from sifaka.errors import StorageError, ThoughtNotFound
from sifaka.record.entries import Drafted, Entry, Started, Stopped
from sifaka.record.run import Run, RunSummary
from sifaka.record.thought import Thought


class RunPage(Frozen):
    """Some runs, newest first."""

    runs: tuple[RunSummary, ...]
    next_cursor: str | None = None
    """The cursor of the runs that follow; None at the end."""


class Health(Frozen):
    """The health of one part of a store."""

    part: str
    """Its name, such as its URL, without passwords."""
    works: bool
    found: str
    """The finding, or the fault and its suggestion, in one line."""


class Filters(Frozen):
    """Filters on the versions of a search; None, and no tag, mean any."""

    since: datetime | None = None
    """Written at this moment or later."""
    until: datetime | None = None
    """Written before this moment."""
    passed: bool | None = None
    """Of a run whose best version passes, or does not."""
    tags: tuple[str, ...] = ()
    """Of a run that has all of these tags."""

    def admit_run(self, *, passed: bool, tags: Iterable[str]) -> bool:
        """True when versions of such a run are looked at."""
        return (self.passed is None or passed == self.passed) and set(self.tags) <= set(tags)

    def admit_time(self, created_at: datetime) -> bool:
        """True when a version of this moment is looked at."""
        return (self.since is None or created_at >= self.since) and (
            self.until is None or created_at < self.until
        )


ANY = Filters()
"""Every version."""


class Hit(Frozen):
    """One past version that matches a query."""

    run_id: str
    thought_id: str
    score: float
    """Higher is better; comparable within one answer only."""
    snippet: str
    created_at: datetime


class Hits(Frozen):
    """The versions that a search found, best first."""

    hits: tuple[Hit, ...]
    search: str
    """The kind of search that was used, such as `bm25`, and in parentheses what it lacked."""


class StorePart(Protocol):
    """What a log and an index of it have in common."""

    @property
    def place(self) -> str:
        """The place, for people, and to distinguish two; without secrets."""
        ...

    async def search(self, query: str, *, limit: int, only: Filters = ANY) -> Hits:
        """Past versions whose text or task matches a query; any string is a valid query."""
        ...

    async def catch_up(self) -> int:
        """Do some of the work that was put off, such as removing expired runs from lists.

        The owner of an open store calls it now and then, from one task; each call takes a moment.

        Returns:
            About how much is left that could be done now; 0 when there is nothing.
        """
        ...

    async def health(self) -> tuple[Health, ...]:
        """Look at each part, within some seconds; a failure is reported, not raised."""
        ...

    def scoped(self, tenant: str) -> Self:
        """The same as another tenant sees it."""
        ...

    async def aclose(self) -> None:
        """Release files and connections; a view that `scoped` made releases nothing."""


@runtime_checkable
class SearchIndex(StorePart, Protocol):
    """The versions of one tenant's runs, to be searched. It decides nothing about runs.

    It holds each `Thought` whole, so every version that was indexed can be read from it. Every
    method raises `StorageError` when the index fails.
    """

    async def put(self, run: Run, *, first: int = 0) -> None:
        """Make the versions of a run findable; what is there of them is replaced.

        Args:
            run: The run as its log has it.
            first: The number of versions at the beginning that are there as they are now.
        """

    async def thoughts(self, run_id: str) -> tuple[Thought, ...]:
        """The versions of a run that were indexed, whole and in order; none for an unknown run."""
        ...

    async def drop(self, run_id: str) -> None:
        """Forget a run; one that is unknown is forgotten."""


@runtime_checkable
class Eraser(Protocol):
    """A store that deletes many runs at once."""

    async def erase(self, lines: Sequence[RunSummary]) -> frozenset[str]:
        """Delete the runs that are still as these lines say.

        With no lines it erases what deleted runs have left, as far as it can: words in an index,
        free pages, journals. That may take a while.

        Returns:
            The ids of the runs that have changed meanwhile and stay.

        Raises:
            StorageError: The store failed; the runs are there, or a repetition deletes the rest.
        """
        ...


class ThoughtStore(StorePart, Protocol):
    """Append-only runs of one tenant, which can be searched: the system of record.

    It decides versions and claims, and is safe to share between tasks and, mostly, processes.
    Every method raises `StorageError` when the store fails, and those about one run raise
    `ThoughtNotFound` when the tenant has no such run.
    """

    @property
    def degraded(self) -> tuple[str, ...]:
        """The known failures, without looking for more, one line each.

        They come with every result, so they are those that affect the record, not what a kind
        of store never does.
        """
        ...

    async def append(
        self, run: Run, entries: Sequence[Entry], *, expected_version: int, fence: int | None = None
    ) -> None:
        """Make entries durable, all or none.

        An append that is there already, entry for entry, is done. After a failure a repeated
        append tells whether the entries were kept. One of no entries asks whether the next one
        would be refused.

        Args:
            run: The run as it is after the entries; its summary is kept for lists.
            entries: The entries, in order; with `expected_version` 0 the first is `Started`.
            expected_version: The number of entries before them; 0 creates the run.
            fence: The number from `claim` under which the run is worked on, 0 for its creator.
                None appends under any claim, such as a cancellation.

        Raises:
            Fenced: The run has been claimed since.
            VersionConflict: There is another number of entries.
        """

    async def claim(self, run_id: str) -> int:
        """Take a run over: from now on appends under an earlier number are refused.

        Returns:
            The number to append under, higher than any given before; 1 for the first claim.
        """
        ...

    async def load(self, run_id: str) -> Run:
        """The run as of its last entry."""
        ...

    def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[tuple[Entry, Run]]:
        """Every entry of a run, without the first `after`, each with the run as it is after it.

        It waits for entries to come, which another process may append, and ends with a run that is
        finished. When the run is deleted meanwhile, it raises `ThoughtNotFound`.
        """
        ...

    async def recent(self, *, limit: int, cursor: str | None = None) -> RunPage:
        """Runs by time of their last entry, newest first; `cursor` continues an earlier page.

        Runs that cannot be read are left out and logged: others are not affected.

        Raises:
            ConfigurationError: The cursor is not one that this log gave out.
        """
        ...

    async def delete(self, run_id: str) -> None:
        """Delete a run; one that is unknown is deleted already."""

    async def save(self, thought: Thought) -> str:
        """Keep a thought by itself: a run of this one version, with the thought's id.

        Saved again it is replaced, if it has got verdicts or feedback since.

        Returns:
            The id, for `load_thought` and `delete`.

        Raises:
            StorageError: One with this id and another text is kept; texts never change.
        """
        steps: list[Entry] = [
            Drafted(thought=thought),
            Stopped(status="done", stop_reason="unchecked"),
        ]
        kept: Run | None = None
        with suppress(ThoughtNotFound):
            kept = await self.load(thought.id)
        if kept is None:
            steps.insert(0, Started(run_id=thought.id, prompt=thought.prompt))
        elif (last := kept.thoughts[-1]) == thought:
            return thought.id
        elif last.text != thought.text:
            raise StorageError(
                f"thought {thought.id!r} is kept with another text", "save its `next_iteration()`"
            )
        run = Run.replay(steps) if kept is None else reduce(Run.apply, steps, kept)
        await self.append(run, steps, expected_version=0 if kept is None else kept.version)
        return thought.id

    async def load_thought(self, thought_id: str) -> Thought:
        """The thought of this id: one that was saved by itself, or a version of a run."""
        for run_id in (thought_id, thought_id.rpartition(".")[0]):
            with suppress(ThoughtNotFound, KeyError):
                return (await self.load(run_id)).thought(thought_id)
        raise ThoughtNotFound(thought_id)
