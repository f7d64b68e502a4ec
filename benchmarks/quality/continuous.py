"""The continuous world: quality is a number, which judges and critics see with noise."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import repeat
from math import inf, sqrt
from typing import Any, Literal

import anyio

from benchmarks.quality.draws import Noise
from sifaka.chain import Chain
from sifaka.chain.version_comparison import Preference
from sifaka.errors import ModelProviderError
from sifaka.models.prompt import ORIGINAL
from sifaka.record.results import PREFERRED, CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.testing import ScriptedJudge, ScriptedModel

Judging = Literal["honest", "first", "second", "neither", "random", "newer", "refuses"]
"""The way a judge answers: by what it sees; always the same; by a coin; by age; not at all."""
_FLAWLESS = 3.0
"""The quality from which on a critic has only one small thing to say."""
_MOST_ISSUES = 8
_GRAVEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuousWorld:
    """The abilities of writers, judges and critics. The input has quality 0; the unit is free."""

    drift: float = -0.1
    """The mean gain of a revision over its base; below 0 it is worse."""
    spread: float = 1.0
    """The standard deviation of the gain."""
    judge_noise: float = 0.5
    """The standard deviation with which a judge sees the quality of one text in one call."""
    shared: float = 0.0
    """The share of that variance that is the same in every call about the same two texts: where
    the judge is wrong for a reason, asking again does not help."""
    position_bias: float = 0.3
    """The probability that a judge prefers the first text for its place."""
    critic_noise: float = 0.5
    grain: float = 0.25
    """The quality that equals one point of severity in a critic's issues."""
    judging: Judging = "honest"
    same_errors: float | None = 0.5
    """The share of the comparison's noise that is that of the opinion, where the review compares a
    version with the input in the same answer, as that of `self_refine` does; None where it does
    not, as with other critics."""
    threshold: float = 1.0
    """The quality from which on a critic that sees clearly asks for no revision."""

    def without_end(self) -> "ContinuousWorld":
        """This world with critics that always ask for a revision, so that all calls are spent."""
        return replace(self, threshold=inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Games:
    """Some runs in one world with one configuration of the chain."""

    world: ContinuousWorld
    settings: Mapping[str, Any]
    """Options of `Chain` besides the writer, the judge and the critic."""
    runs: int
    seed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The results, run by run."""

    gains: tuple[float, ...]
    """Quality of the result less that of the input."""
    calls: tuple[int, ...]
    """Model calls of writer, critic and judge."""
    iterations: tuple[int, ...]


class Parts:
    """The scripted writer, judge and critic of a world. They go from run to run by `begin`."""

    name = "blurred"

    def __init__(self, world: ContinuousWorld) -> None:
        self._world = world
        self.writer = ScriptedModel(lines=repeat(self._revised))
        self.judge = ScriptedJudge(prefers=self._prefers)
        self.begin("")

    def begin(self, seed: str) -> str:
        """The input of a run whose random numbers come from a seed."""
        self._written = 0
        self.judged = 0
        self.criticised = 0
        self._asked: Counter[frozenset[str]] = Counter()
        self._tilt: dict[frozenset[str], float] = {}
        self._hand, self._taste, self._eye = (Noise(f"{seed}/{role}") for role in "wjc")
        return _text(0.0, 0)

    def _revised(self, thought: Thought) -> str:
        self._written += 1
        moved = self._world.drift + self._world.spread * self._hand.normal()
        return _text(quality_of(thought.text) + moved, self._written)

    def _prefers(self, first: str, second: str) -> Preference:
        self.judged += 1
        return self._chooses(first, second)

    def _chooses(self, first: str, second: str) -> Preference:
        world = self._world
        match world.judging:
            case "first" | "second" | "neither":
                return world.judging
            case "random":
                return "first" if self._taste.chance(0.5) else "second"
            case "newer":
                return "first" if _serial(first) > _serial(second) else "second"
            case "refuses":
                raise ModelProviderError("refused", error_code="rejected")
            case "honest":
                pass
        pair = frozenset((first, second))
        blur = sqrt(2) * world.judge_noise
        # The tilt is towards one of the two texts, so it changes sides with their order.
        tilt = self._tilt.setdefault(pair, blur * sqrt(world.shared) * self._taste.normal())
        side = 1 if first == max(pair) else -1
        seen = quality_of(first) - quality_of(second) + side * tilt
        seen += blur * sqrt(1 - world.shared) * self._taste.normal()
        biased = self._taste.chance(world.position_bias)
        return "first" if biased or seen > 0 else "second"

    async def critique(self, thought: Thought) -> CriticFeedback:
        """A verdict by the quality it sees, and issues that weigh the more the less it sees."""
        self.criticised += 1
        world = self._world
        error = self._eye.normal()
        seen = quality_of(thought.text) + world.critic_noise * error
        details = self._compared(thought, error)
        if seen >= world.threshold:
            return CriticFeedback(
                critic=self.name, verdict="accept", scores={"quality": 1.0}, details=details
            )
        return CriticFeedback(
            critic=self.name,
            verdict="revise",
            details=details,
            scores={"quality": min(1.0, max(0.0, (seen + _FLAWLESS) / (2 * _FLAWLESS)))},
            issues=_issues(thought.text, max(1, round((_FLAWLESS - seen) / world.grain))),
        )

    def _compared(self, thought: Thought, error: float) -> Mapping[str, object]:
        """The comparison with the input, which stands first, in the answer that has the opinion."""
        world, original = self._world, thought.metadata.get(ORIGINAL)
        if world.same_errors is None or not isinstance(original, str):
            return {}
        if world.judging != "honest":  # it is the same model
            return _answered(self._chooses, original, thought.text)
        # Both texts are seen anew, but for what the answer has already said of the version.
        same, new = sqrt(world.same_errors), sqrt(1 - world.same_errors)
        of_version = same * error + new * self._taste.normal()
        seen = quality_of(thought.text) + world.critic_noise * of_version
        seen -= quality_of(original) + world.critic_noise * self._taste.normal()
        biased = self._taste.chance(world.position_bias)
        return {PREFERRED: "original" if biased or seen < 0 else "text"}


def _answered(
    prefers: Callable[[str, str], Preference], original: str, text: str
) -> Mapping[str, object]:
    names = {"first": "original", "second": "text", "neither": "neither"}
    try:
        return {PREFERRED: names[prefers(original, text)]}
    except ModelProviderError:
        return {}


def play(games: Games) -> Results:
    """Let the engine work on all runs."""
    return anyio.run(_play, games)


def chain_of(settings: Mapping[str, Any], parts: Parts) -> Chain:
    """The chain of these settings with the scripted parts."""
    return Chain(
        model=parts.writer,
        critics=(parts,),
        judge_model=parts.judge,
        protect=False,
        fixes="none",  # the texts are no language
        **settings,
    )


async def _play(games: Games) -> Results:
    parts = Parts(games.world)
    chain = chain_of(games.settings, parts)
    gains: list[float] = []
    calls: list[int] = []
    iterations: list[int] = []
    for number in range(games.runs):
        result = await chain.run(text=parts.begin(f"{games.seed}/{number}"))
        if result.status != "done":
            raise RuntimeError(f"the run ended {result.status}: {result.error}")
        gains.append(quality_of(result.text))
        calls.append(result.usage.model_calls + parts.criticised + parts.judged)
        iterations.append(result.run.iterations)
    return Results(gains=tuple(gains), calls=tuple(calls), iterations=tuple(iterations))


def quality_of(text: str) -> float:
    """The quality that is written into a text."""
    return float(text.split()[1])


def _serial(text: str) -> int:
    return int(text.split()[3])


def _text(quality: float, serial: int) -> str:
    return f"quality {quality!r} version {serial}"


def _issues(text: str, weight: int) -> tuple[Issue, ...]:
    """Issues over the whole text whose severities add up to the weight, as far as they go."""
    severities: list[int] = []
    while weight > 0 and len(severities) < _MOST_ISSUES:
        severities.append(min(weight, _GRAVEST))
        weight -= severities[-1]
    return tuple(Issue.at(text, 0, len(text), "poor", severity=each) for each in severities)
