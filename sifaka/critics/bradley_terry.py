"""Strengths from comparisons, by the model of Bradley and Terry (1952)."""

from collections.abc import Sequence

_ROUNDS = 1_000
_PRECISION = 1e-10
PRIOR = 0.5
"""Wins each of a pair is given beforehand: one comparison does not make a certainty."""


def bradley_terry(wins: Sequence[Sequence[float]], *, prior: float = PRIOR) -> tuple[float, ...]:
    """The strengths under which such results are most likely.

    The chance that i beats j is `p[i] / (p[i] + p[j])`. Found by minorisation and maximisation
    (Hunter 2004), which converges from anywhere.

    Args:
        wins: `wins[i][j]` is how often i has won against j; a draw is half a win for each.
        prior: Added to the wins of every pair that was compared, in both directions.

    Returns:
        The strengths, which add up to 1. Without any comparison they are equal.
    """
    count = len(wins)
    games = [
        [wins[i][j] + wins[j][i] if i != j else 0.0 for j in range(count)] for i in range(count)
    ]
    games = [[played + 2 * prior if played else 0.0 for played in row] for row in games]
    won = [
        sum(wins[i][j] + prior for j in range(count) if i != j and games[i][j])
        for i in range(count)
    ]
    strengths = [1 / count] * count
    for _ in range(_ROUNDS):
        raised = [
            _raised(strengths, i, won[i], games[i]) if any(games[i]) else strengths[i]
            for i in range(count)
        ]
        total = sum(raised)
        raised = [strength / total for strength in raised]
        moved = max(abs(a - b) for a, b in zip(raised, strengths, strict=True))
        strengths = raised
        if moved < _PRECISION:
            break
    return tuple(strengths)


def _raised(strengths: Sequence[float], i: int, won: float, games: Sequence[float]) -> float:
    against = sum(
        played / (strengths[i] + strengths[j])
        for j, played in enumerate(games)
        if played and strengths[i] + strengths[j] > 0
    )
    return won / against if against else strengths[i]
