"""Error analysis: what to try after a failure that ended a phase.

The calls themselves were repeated already, at short intervals; this is about the minutes after.
What is decided follows from a few words that are on record, so a resumed run goes on the same way.
"""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sifaka.errors import CriticError, ModelProviderError, SifakaError, SourceError
from sifaka.record.entries import Strategy
from sifaka.record.events import Phase

LONGEST_WAIT = 60.0
"""Seconds; when a provider asks for more, the run is to be resumed later."""
FIRST_BACKOFF = 2.0
"""Seconds at most before the first further try; doubles with each, full jitter."""
FIRST_PAUSE = 10.0
"""Seconds at most, half of it at least, after a rate limit that names no time; doubles too."""
MOST_ATTEMPTS = 6
"""Recoveries of one phase of one version, for all failures in it."""

_AGAIN: tuple[Strategy, ...] = ("retry",) * 3
_SLOWER: tuple[Strategy, ...] = ("fewer_parallel_calls",) * 3
_SHORTER: tuple[Strategy, ...] = ("shorter_context",) * 3
_ANEW: tuple[Strategy, ...] = ("restart_iteration",) * 2

_NEEDED: Mapping[str, tuple[Strategy, ...]] = MappingProxyType(
    {
        "connection": _AGAIN,
        "timeout": _AGAIN,
        "server": _AGAIN,
        "operation_timeout": _AGAIN,
        "rate_limit": _SLOWER,
        "circuit_open": _SLOWER,
        "context_window": _SHORTER,
        "memory_limit_error": _SHORTER,
        "malformed": _ANEW,
        "unfit": _ANEW,
        "unfinished": _ANEW,
        "empty": _ANEW,
        "embedding_error": _AGAIN[:1],
    }
)
"""The strategies, in order, in phases that a version cannot do without."""

_OPTIONAL: Mapping[str, tuple[Strategy, ...]] = MappingProxyType(
    {
        "rate_limit": (*_SLOWER[:2], "skip"),
        "circuit_open": (*_SLOWER[:2], "skip"),
        "context_window": (*_SHORTER, "skip"),
        "memory_limit_error": (*_SHORTER, "skip"),
    }
)
"""The same where a version can go on without; any other failure there is tried once more first."""

_REPLIES = frozenset({"malformed", "empty", "unfit", "unfinished"})
_SKIPPED_AT_WORST: frozenset[Phase] = frozenset({"critique"})
_FINAL = frozenset(
    {
        "authentication",
        "quota",
        "not_found",
        "rejected",
        "broken",
        "content_filter",
        "budget_exceeded",
        "configuration_error",
        "plugin_error",
        "stale_revision",
        "storage_error",
        "thought_not_found",
        "version_conflict",
    }
)
"""Codes that no strategy helps: a person mends the cause, or the store's fallback does."""

_TOLD: Mapping[Strategy, str] = MappingProxyType(
    {
        "retry": "trying again",
        "skip": "going on without",
        "restart_iteration": "writing this version anew",
        "shorter_context": "trying with half of the context",
        "fewer_parallel_calls": "trying again with fewer calls at a time",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """The recovery after a failure: its strategy, and the seconds to wait first."""

    strategy: Strategy
    wait_seconds: float
    """Seconds to wait first."""
    why: str
    """The failure and the strategy, in one line."""


def code_of(error: BaseException) -> str:
    """The code of the error of a provider or source, else its class as in `memory_limit_error`."""
    if isinstance(error, SifakaError) and error.code:
        return error.code
    return re.sub(
        r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(error).__name__
    ).lower()


def plan_recovery(
    error: SifakaError | str,
    *,
    phase: Phase,
    attempts: int,
    retry_after: float | None = None,
    uniform: Callable[[float, float], float] = random.uniform,
) -> Recovery | None:
    """Choose the recovery after a failure; None when there is none.

    The strategy follows from the arguments alone; only the wait is drawn at random.

    Args:
        error: The error, or its `code_of` as it was stored.
        phase: The phase that failed.
        attempts: Recoveries of this phase of this version so far.
        retry_after: Seconds the provider asked to wait, where only the code was stored.
        uniform: A random number between two.
    """
    code = error if isinstance(error, str) else code_of(error)
    if isinstance(error, ModelProviderError | CriticError | SourceError):
        retry_after = error.retry_after
    steps = _steps(code, phase)
    # Another failure may have used the attempts up before this one came to be skipped.
    at = min(attempts, len(steps) - 1) if "skip" in steps else attempts
    if at >= len(steps) or attempts >= MOST_ATTEMPTS:
        return None
    strategy = steps[at]
    wait = _wait(strategy, attempts, retry_after, uniform)
    if wait > LONGEST_WAIT:
        if "skip" not in steps:
            return None
        strategy, wait = "skip", 0.0
    return Recovery(
        strategy=strategy,
        wait_seconds=wait,
        why=f"{code} in phase {phase}: {_TOLD[strategy]}",
    )


def _steps(code: str, phase: Phase) -> tuple[Strategy, ...]:
    if code in _FINAL:
        return ()
    if phase in _SKIPPED_AT_WORST:
        return _OPTIONAL.get(code, ("retry", "skip"))
    if code in _REPLIES and phase != "generate":  # not the writer's, so the version is all right
        return _AGAIN
    return _NEEDED.get(code, ())


def _wait(
    strategy: Strategy,
    attempts: int,
    retry_after: float | None,
    uniform: Callable[[float, float], float],
) -> float:
    if strategy not in {"retry", "fewer_parallel_calls"}:
        return 0.0
    if retry_after is not None:
        return max(0.0, retry_after)
    if strategy == "retry":
        return uniform(0.0, min(FIRST_BACKOFF * 2**attempts, LONGEST_WAIT))
    most = min(FIRST_PAUSE * 2**attempts, LONGEST_WAIT)
    return uniform(most / 2, most)
