"""The configurations of a chain that are compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAIVE = "naive"
BEST_OF_N = "best_of_n, n=3"
THOROUGH = "thorough"
_STEPS = 3
"""Iterations of the policies at their own settings, as the effort `standard` has."""
_LONG = 5
"""Those of the naive loop next to `thorough`, which has as many."""
NAIVE_LONG = f"{NAIVE}, K={_LONG}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A name, and settings of `Chain`."""

    name: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A selection policy and its cost."""

    name: str
    settings: Mapping[str, Any]
    a_step: int
    """Model calls of one iteration, with one critic."""
    once: int = 1
    """Those before the first: the critic reads the input."""

    def with_steps(self, steps: int) -> Contender:
        """This policy with so many iterations, and no other end."""
        settings = {**self.settings, "max_iterations": steps, "patience": None}
        return Contender(name=f"{self.name}, K={steps}", settings=settings)

    def with_calls(self, calls: int) -> Contender:
        """This policy with as many iterations as come nearest to so many calls.

        The look back at the end of `judged` is not counted: not every run has one.
        """
        return self.with_steps(max(1, round((calls - self.once) / self.a_step)))


POLICIES = (
    # No version follows the last one, so its critique is left out: one call less.
    Policy(name=NAIVE, settings={"policy": "last"}, a_step=2, once=0),
    Policy(name="best", settings={"policy": "best"}, a_step=2),
    Policy(name="judged, P=1", settings={"policy": "judged", "judge_repeats": 1}, a_step=4),
    Policy(name="judged, P=3", settings={"policy": "judged", "judge_repeats": 3}, a_step=8),
    Policy(
        name="judged, n=3, P=3",
        settings={"policy": "judged", "judge_repeats": 3, "width": 3},
        a_step=12,
    ),
    Policy(name=BEST_OF_N, settings={"policy": "best_of_n", "width": 3}, a_step=6),
)


def at_own_settings() -> tuple[Contender, ...]:
    """Each policy with 3 iterations, and the efforts as the chain resolves them."""
    return (
        *(policy.with_steps(_STEPS) for policy in POLICIES),
        POLICIES[0].with_steps(_LONG),
        *(Contender(name=e, settings={"effort": e}) for e in ("quick", "standard", THOROUGH)),
    )


def at_equal_calls(calls: int) -> tuple[Contender, ...]:
    """Each policy with about so many model calls; best-of-N in several rounds and in one."""
    width = min(16, round((calls - 1) / 2))
    settings = {"policy": "best_of_n", "width": width, "max_iterations": 1, "patience": None}
    return (
        *(policy.with_calls(calls) for policy in POLICIES),
        Contender(name=f"best_of_n, n={width}, K=1", settings=settings),
    )
