"""The configurations of a chain that are compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sifaka.chain.configuration import PRESETS, Effort

NAIVE = "naive"
BEST_OF_N = "best_of_n, n=3"
EFFORTS: tuple[Effort, ...] = ("quick", "standard", "thorough")
_STEPS = 3
"""Iterations of the policies at their own settings, as the effort `thorough` has."""
_LONG = 5
"""Those of the naive loop that goes on for longer."""
NAIVE_LONG = f"{NAIVE}, K={_LONG}"
BEST_OF_N_USUAL = f"{BEST_OF_N}, K={_STEPS}"
JUDGED_USUAL = f"judged, n=3, K={_STEPS}"
_LOOKS_BACK = "look back"

FEW_QUESTIONS: Mapping[str, Any] = {"max_iterations": 1, "look_back": 0}
"""The settings of `standard` where the host's model is asked, and a person may allow each question:
one critique, one version, and one critique of that."""


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
    """Model calls of one iteration, with one critic, where the judge prefers no version."""
    once: int = 1
    """Those before the first: the critic reads the input."""
    at_end: int = 0
    """Those of the look back, as far as a clear outcome needs them; not every run has one."""

    def with_steps(self, steps: int) -> Contender:
        """This policy with so many iterations, and no other end."""
        settings = {**self.settings, "max_iterations": steps, "patience": None}
        return Contender(name=f"{self.name}, K={steps}", settings=settings)

    def with_calls(self, calls: int) -> Contender:
        """This policy with as many iterations as come nearest to so many calls."""
        return self.with_steps(max(1, round((calls - self.once - self.at_end) / self.a_step)))


def _judged(name: str, a_step: int, **settings: Any) -> Policy:
    settings = {"policy": "judged", "look_back": 2, **settings}
    return Policy(name=name, settings=settings, a_step=a_step, at_end=2)


POLICIES = (
    # No version follows the last one, so its critique is left out: one call less.
    Policy(name=NAIVE, settings={"policy": "last"}, a_step=2, once=0),
    Policy(name="best", settings={"policy": "best", "look_back": 0}, a_step=2),
    Policy(
        name=f"best, {_LOOKS_BACK}", settings={"policy": "best", "look_back": 1}, a_step=2, at_end=1
    ),
    _judged("judged", 4),
    _judged("judged, n=3", 12, width=3),
    Policy(name=BEST_OF_N, settings={"policy": "best_of_n", "width": 3, "look_back": 0}, a_step=6),
    Policy(
        name=f"{BEST_OF_N}, {_LOOKS_BACK}",
        settings={"policy": "best_of_n", "width": 3, "look_back": 2},
        a_step=6,
        at_end=2,
    ),
)


def at_own_settings() -> tuple[Contender, ...]:
    """Each policy with 3 iterations, and the efforts as the chain resolves them."""
    return (
        *(policy.with_steps(_STEPS) for policy in POLICIES),
        POLICIES[0].with_steps(_LONG),
        *(Contender(name=e, settings=_of_effort(e)) for e in EFFORTS),
    )


def _of_effort(effort: Effort) -> Mapping[str, Any]:
    """The effort as it is with a provider's model, which a scripted one is not."""
    return {"effort": effort, "max_iterations": PRESETS[effort].rounds}


def at_equal_calls(calls: int) -> tuple[Contender, ...]:
    """Each policy with about so many model calls; best-of-N in several rounds and in one."""
    width = min(16, round((calls - 1) / 2))
    settings = {"policy": "best_of_n", "width": width, "look_back": 0}
    settings |= {"max_iterations": 1, "patience": None}
    return (
        *(policy.with_calls(calls) for policy in POLICIES),
        Contender(name=f"best_of_n, n={width}, K=1", settings=settings),
    )
