"""A researcher that follows a script: sections at once, each with searches that can be counted."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio

from sifaka import Chain, ChainEvent, Document, Thought
from sifaka.calls.context import fan_out, recorded
from sifaka.record.entries import Researched
from sifaka.record.research_question import TERMINAL, Inquiry
from sifaka.research.protocol import Desk

QUESTION = "How did the lamps of the coast change?"
TITLES = ("Beginnings", "Oil", "Gas", "Today")
SOURCE = Document(text="The first lamp burned in 1811.", title="Lamps", url="https://wiki.test/L")
Search = Callable[[int, int], Awaitable[str]]
"""What the nth search of a section finds."""


async def finds(section: int, number: int) -> str:
    return f"{TITLES[section]} has fact {number}."


class ScriptedResearcher:
    """Makes two searches for each section, puts each section on record, and writes the report.

    Args:
        search: Makes a search that is not on record.
        titles: Of the sections.
        written: Whether the report is written, or a dossier is left for the caller.
    """

    def __init__(
        self, search: Search = finds, *, titles: Sequence[str] = TITLES, written: bool = True
    ) -> None:
        self.made: list[tuple[int, int]] = []
        """The searches that were made, by section and number."""
        self._search = search
        self._titles = tuple(titles)
        self._written = written

    async def research(self, desk: Desk) -> Thought:
        if not any(entry.step == "started" for entry in desk.run.research):
            await desk.record(Researched(step="started", state={"outline": self._titles}))
        done = {e.section: e.message for e in desk.run.research if e.step == "section_finished"}
        branches = {
            f"section {n}": partial(self._section, desk, n)
            for n in range(len(self._titles))
            if n not in done
        }
        if branches:
            await fan_out(branches, calls_each=0)
        said = {e.section: e.message for e in desk.run.research if e.step == "section_finished"}
        await desk.tell("synthesizing", "putting the sections together")
        return self._report(desk, [said[n] for n in range(len(self._titles))])

    async def _section(self, desk: Desk, section: int) -> None:
        await desk.tell("searching", f"searching for {self._titles[section]}", section=section)
        try:
            found = [await self._found(section, number) for number in (1, 2)]
            message = f"{found[0]} [1] {found[1]}"
        except LookupError as error:
            message = f"This section failed: {error}"
        entry = Researched(
            step="section_finished", section=section, title=self._titles[section], message=message
        )
        await desk.record(entry)

    async def _found(self, section: int, number: int) -> str:
        async def make() -> str:
            self.made.append((section, number))
            return await self._search(section, number)

        return await recorded("wiki", [section, number], make)

    def _report(self, desk: Desk, said: Sequence[str]) -> Thought:
        failed = [title for title, text in zip(self._titles, said, strict=True) if "failed" in text]
        parts = [f"# {QUESTION}"]
        for title, text in zip(self._titles, said, strict=True):
            waits = "" if self._written else "_To be written._\n\n> "
            parts += [f"## {title}", f"{waits}{text}"]
        parts += ["## References", f"[1] {SOURCE.title}. {SOURCE.url}"]
        return Thought(
            prompt=desk.run.prompt,
            text="\n\n".join(parts) + "\n",
            author="research",
            pre_generation_context=(SOURCE,),
            metadata={
                "research": {
                    "mode": "deep",
                    "written": self._written,
                    "partial": bool(failed),
                    "outline": self._titles,
                    "sections": [
                        {"title": t, "status": "failed" if t in failed else "complete"}
                        for t in self._titles
                    ],
                    "stop_reasons": (),
                },
                "degraded": tuple(f"section {title!r} failed" for title in failed),
            },
        )


class Silent(ScriptedResearcher):
    """One whose last search of the first section never comes."""

    def __init__(self) -> None:
        super().__init__(self._never)
        self.waiting = anyio.Event()
        self.left = anyio.Event()

    async def _never(self, section: int, number: int) -> str:
        if (section, number) != (0, 2):
            return await finds(section, number)
        self.waiting.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.left.set()
        raise AssertionError


def researching(researcher: object, **settings: object) -> Chain:
    """A chain whose runs are researched by it, then checked as reports."""
    given: dict[str, object] = {
        "validators": [{"type": "report"}],
        "critics": [],
        "inquiry": Inquiry(mode="deep"),
        **settings,
    }
    return Chain(researcher=researcher, **given)  # type: ignore[arg-type]  # settings of all kinds


async def followed(chain: Chain, run_id: str) -> list[ChainEvent]:
    """The events of a run that has ended."""
    return [event async for event in chain.follow(run_id)]


def endings(events: Sequence[ChainEvent]) -> list[str]:
    """The events after which no research comes."""
    return [event.research for event in events if event.research in TERMINAL]
