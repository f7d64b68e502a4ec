"""The contenders in one continuous world, with the same random numbers."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from types import MappingProxyType

from benchmarks.quality.contenders import (
    BEST_OF_N,
    BEST_OF_N_USUAL,
    FEW_QUESTIONS,
    JUDGED_USUAL,
    NAIVE,
    NAIVE_LONG,
    Contender,
    at_equal_calls,
    at_own_settings,
)
from benchmarks.quality.continuous import ContinuousWorld, Games, Results, play
from benchmarks.quality.pooling import spread
from benchmarks.quality.samples import Mean, mean_of
from benchmarks.quality.tables import Table

MOST_WORSE: Mapping[str, float] = MappingProxyType({"standard": 0.05, "thorough": 0.01})
"""The share of an effort's results that may be worse than their input, in every world with a judge
who tries."""
CALLS = 25
"""Model calls of each policy where they are compared at equal calls."""
_BLOCK = 50
BASE = ContinuousWorld()
BASE_NAME = "base"
OTHERS: tuple[tuple[str, ContinuousWorld], ...] = (
    ("no bias", replace(BASE, position_bias=0.0)),
    ("noise .25", replace(BASE, judge_noise=0.25, critic_noise=0.25)),
    ("noise 1", replace(BASE, judge_noise=1.0, critic_noise=1.0)),
    ("noise 1, no bias", replace(BASE, judge_noise=1.0, critic_noise=1.0, position_bias=0.0)),
    ("half of the judge's noise shared", replace(BASE, shared=0.5)),
    ("critic's noise 2", replace(BASE, critic_noise=2.0)),
)
"""The changes to the base world."""
_COARSE = ("critic counts in whole units", replace(BASE, grain=1.0))
"""Matters only where critics select."""
LIARS: tuple[tuple[str, ContinuousWorld], ...] = (
    ("always the first", replace(BASE, judging="first")),
    ("always the second", replace(BASE, judging="second")),
    ("always neither", replace(BASE, judging="neither")),
    ("a coin", replace(BASE, judging="random")),
    ("never an answer", replace(BASE, judging="refuses")),
    ("always the newer", replace(BASE, judging="newer")),
)
"""Judges that do not look at the texts."""
SAME_ERRORS: tuple[tuple[str, float | None], ...] = (
    ("opinions alone", None),
    ("compared, other errors", 0.0),
    ("compared, half the same errors", 0.5),
    ("compared, the same errors", 1.0),
)
"""How much of a critic's error is in its comparison too, when both are in one answer."""
_WORSE = {"noise 1", "half of the judge's noise shared", "critic's noise 2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The results of a contender in a world."""

    world: str
    contender: str
    gain: Mean
    worse: Mean
    """The share of results that are worse than the input."""
    unchanged: Mean
    calls: Mean
    against_best_of_n: Mean | None = None
    """Its gain less that of best-of-3 at about as many calls, run by run."""

    @property
    def loses(self) -> bool:
        """True when best-of-3 is better by more than twice the standard error."""
        lead = self.against_best_of_n
        return lead is not None and lead.value < -2 * lead.error


Pool = ProcessPoolExecutor | None


def own_settings(runs: int, seed: str, pool: Pool) -> tuple[Score, ...]:
    """The base world, each contender with its own settings."""
    return _scores([(BASE_NAME, BASE)], at_own_settings(), runs, seed, pool)


def equal_calls(runs: int, seed: str, pool: Pool) -> tuple[Score, ...]:
    """The base world, each contender with about as many calls."""
    worlds = [(BASE_NAME, BASE.without_end())]
    return _with_lead(_scores(worlds, at_equal_calls(CALLS), runs, seed, pool))


def other_worlds(runs: int, seed: str, pool: Pool) -> tuple[Score, ...]:
    """The other worlds: the naive loop, best-of-3 and the efforts that look back."""
    names = {NAIVE_LONG, BEST_OF_N_USUAL, *MOST_WORSE}
    chosen = [c for c in at_own_settings() if c.name in names]
    return _scores([*OTHERS, _COARSE], chosen, runs, seed, pool)


def few_questions(runs: int, seed: str, pool: Pool) -> tuple[Score, ...]:
    """Every world with the three questions that a host is asked, as far as its answers repeat."""
    asked = [Contender(name=how, settings=FEW_QUESTIONS) for how, _ in SAME_ERRORS]
    return tuple(
        score
        for name, world in ((BASE_NAME, BASE), *OTHERS, _COARSE)
        if not world.shared  # only a judge's
        for contender, (_, same) in zip(asked, SAME_ERRORS, strict=True)
        for score in _scores(
            [(name, replace(world, same_errors=same))], [contender], runs, seed, pool
        )
    )


def liars(runs: int, seed: str, pool: Pool) -> tuple[Score, ...]:
    """The base world with judges that do not look: the efforts, and `judged`."""
    chosen = [c for c in at_own_settings() if c.name in {*MOST_WORSE, JUDGED_USUAL}]
    return _scores(LIARS, chosen, runs, seed, pool)


def equal_calls_elsewhere(runs: int, seed: str, pool: Pool) -> tuple[Score, ...]:
    """As `equal_calls`, where the judge or the critic is worse: all but the naive loop."""
    chosen = [*(other for other in OTHERS if other[0] in _WORSE), _COARSE]
    worlds = [(name, world.without_end()) for name, world in chosen]
    rivals = [c for c in at_equal_calls(CALLS) if not c.name.startswith(NAIVE)]
    return _with_lead(_scores(worlds, rivals, runs, seed, pool))


def missed(scores: Iterable[Score]) -> list[str]:
    """A line for each effort that misses its goal in a world."""
    return [
        f"{s.contender}, {s.world}: P(worse) {s.worse.value:.4f}, goal {MOST_WORSE[s.contender]:g}"
        for s in scores
        if s.worse.value > MOST_WORSE.get(s.contender, 1.0)
    ]


def _scores(
    worlds: Sequence[tuple[str, ContinuousWorld]],
    contenders: Sequence[Contender],
    runs: int,
    seed: str,
    pool: Pool,
) -> tuple[Score, ...]:
    blocks = -(-runs // _BLOCK)
    jobs = [
        Games(
            world=world,
            settings=contender.settings,
            runs=min(_BLOCK, runs),
            seed=f"{seed}/{n}",
        )
        for _, world in worlds
        for contender in contenders
        for n in range(blocks)
    ]
    played = iter(spread(play, jobs, pool))
    return tuple(
        _score(name, contender.name, [next(played) for _ in range(blocks)])
        for name, _ in worlds
        for contender in contenders
    )


def _score(world: str, contender: str, blocks: Sequence[Results]) -> Score:
    return Score(
        world=world,
        contender=contender,
        gain=mean_of([block.gains for block in blocks]),
        worse=mean_of([[float(gain < 0) for gain in block.gains] for block in blocks]),
        unchanged=mean_of([[float(gain == 0) for gain in block.gains] for block in blocks]),
        calls=mean_of([block.calls for block in blocks]),
    )


def _with_lead(scores: Sequence[Score]) -> tuple[Score, ...]:
    """The scores with the lead over the best-of-3 of the same world."""
    rivals = {s.world: s for s in scores if s.contender.startswith(f"{BEST_OF_N}, K=")}
    return tuple(
        score
        if score is rivals[score.world]
        else replace(score, against_best_of_n=score.gain.minus(rivals[score.world].gain))
        for score in scores
    )


def table_of(name: str, title: str, scores: Sequence[Score]) -> Table:
    """The scores, a row each."""
    several = len({score.world for score in scores}) > 1
    header = ("contender", "calls", "mean gain", "P(worse)", "unchanged")
    against = any(score.against_best_of_n for score in scores)
    return Table(
        name=name,
        title=title,
        header=(
            *(("world",) if several else ()),
            *header,
            *(("against best-of-3",) if against else ()),
        ),
        rows=tuple(
            (
                *((score.world,) if several else ()),
                *_row(score),
                *((_lead(score),) if against else ()),
            )
            for score in scores
        ),
        words=2 if several else 1,
    )


def _row(score: Score) -> tuple[str, ...]:
    return (
        score.contender,
        f"{score.calls.value:.1f}",
        f"{score.gain.value:+.3f} ± {score.gain.error:.3f}",
        f"{score.worse.value:.4f} ± {score.worse.error:.4f}",
        f"{score.unchanged.value:.2f}",
    )


def _lead(score: Score) -> str:
    lead = score.against_best_of_n
    if lead is None:
        return ""
    return f"{lead.value:+.3f} ± {lead.error:.3f}{' loses' if score.loses else ''}"
