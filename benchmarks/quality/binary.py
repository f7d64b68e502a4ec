"""The binary world: a text is good or bad, and every error rate is one number."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import anyio

from benchmarks.quality.draws import stratified
from sifaka.chain import Chain
from sifaka.chain.version_comparison import Preference
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.testing import ScriptedCritic, ScriptedJudge, ScriptedModel

COIN = 0.5
"""The probability that the judge prefers the newer of two texts that are equally good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryWorld:
    """The error rates, and the loop that lives with them."""

    start: float
    """The probability that the input is good."""
    repair: float
    """The probability that a revision of a bad text is good."""
    harm: float
    """The probability that a revision of a good text is bad."""
    accuracy: float | None
    """The probability that a comparison of the judge is right; None for the naive loop."""
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Some runs in one world."""

    world: BinaryWorld
    runs: int
    seed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of a block of runs."""

    after: tuple[float, ...]
    """The share of runs whose champion is good, after each step."""
    final: float
    """The same at the end, after the look back at the original."""


class Parts:
    """The scripted writer and judge of a world. They go from run to run by `begin`."""

    def __init__(self, world: BinaryWorld) -> None:
        self._world = world
        self._row: Sequence[float] = ()
        self._serial = 0
        self._asked: Counter[frozenset[str]] = Counter()
        self._pairs: dict[frozenset[str], int] = {}
        self.writer = ScriptedModel(lines=repeat(self._revised))
        self.judge = ScriptedJudge(prefers=self._prefers)

    def begin(self, row: Sequence[float]) -> str:
        """The input of a run that is decided by these random numbers."""
        self._row, self._serial = row, 0
        self._asked.clear()
        self._pairs.clear()
        return _text(good=row[0] < self._world.start, serial=0)

    def _revised(self, thought: Thought) -> str:
        self._serial += 1
        draw = self._row[self._serial]
        good = draw >= self._world.harm if _good(thought.text) else draw < self._world.repair
        return _text(good=good, serial=self._serial)

    def _prefers(self, first: str, second: str) -> Preference:
        """One draw for both orders of a comparison: the vote is about the two texts.

        The same two may meet again at the end; they are voted on anew then.
        """
        pair = frozenset((first, second))
        repeat = self._asked[pair] // 2
        self._asked[pair] += 1
        number = self._pairs.setdefault(pair, len(self._pairs))
        draw = self._row[1 + self._world.steps + 2 * number + repeat]
        newer = max(pair, key=_serial)
        if _good(first) == _good(second):
            wins = draw < COIN
        else:
            wins = (draw < (self._world.accuracy or 0.0)) == _good(newer)
        return "first" if wins == (newer == first) else "second"


def play(block: Block) -> Outcome:
    """Let the engine work on all runs of a block."""
    return anyio.run(_play, block)


def draws_for(world: BinaryWorld) -> int:
    """Random numbers that a run needs: for the input, each revision, and each vote."""
    return 1 + world.steps + (world.steps + 1) * 2


def chain_of(world: BinaryWorld, parts: Parts) -> Chain:
    """The chain of this world's loop; its critic always objects, so that every step is made."""
    selection: dict[str, Any] = {"policy": "last"}
    if world.accuracy is not None:
        selection = {"policy": "judged", "judge_model": parts.judge}
    return Chain(
        model=parts.writer,
        critics=(ScriptedCritic(objects_to=lambda _: True),),
        max_iterations=world.steps,
        patience=None,
        protect=False,
        fixes="none",  # the texts are no language
        **selection,
    )


async def _play(block: Block) -> Outcome:
    world = block.world
    parts = Parts(world)
    chain = chain_of(world, parts)
    good_after, good_at_end = [0] * world.steps, 0
    for row in stratified(block.runs, draws_for(world), block.seed):
        result = await chain.run(text=parts.begin(row))
        if result.run.iterations != world.steps:
            raise RuntimeError(f"the run stopped after {result.run.iterations} steps: {result}")
        for step, good in enumerate(champions(result.run)):
            good_after[step] += good
        good_at_end += _good(result.text)
    return Outcome(
        after=tuple(count / block.runs for count in good_after), final=good_at_end / block.runs
    )


def champions(run: Run) -> list[bool]:
    """For each step, True when the champion after it was good, by the run's record."""
    champion, found = run.thoughts[0], list[bool]()
    for thought in run.thoughts[1:]:
        champion = thought if run.decisions[thought.id].accepted else champion
        found.append(_good(champion.text))
    return found


def _text(*, good: bool, serial: int) -> str:
    return f"{'good' if good else 'bad'} text {serial}"


def _good(text: str) -> bool:
    return text.startswith("good")


def _serial(text: str) -> int:
    return int(text.rsplit(" ", 1)[1])
