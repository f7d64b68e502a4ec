"""Circuit breakers: a provider that keeps failing is left alone for a while.

After Nygard, "Release It!" (2007): closed, open, half-open. One breaker a provider, so that a
provider that is down costs no run its time, and the fallback models are asked at once.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import RLock

from sifaka.errors import ModelProviderError

LONGEST_COOLDOWN = 300.0
"""Seconds; the cooldown doubles with each trial call that fails, up to this."""
_VERDICT = 5.0
"""Seconds that others are asked to wait while a trial call is under way."""


@dataclass(slots=True)
class _Circuit:
    cooldown: float
    failures: int = 0
    opened: bool = False
    until: float = 0.0
    """The time of the next call that is let through, if it is open."""
    on_trial: bool = False


@dataclass(slots=True, eq=False)
class Breakers:
    """One breaker for each provider; any number of threads may share them."""

    threshold: int = 5
    """Transient failures in a row after which a provider is left alone."""
    cooldown: float = 30.0
    """Seconds until a trial call is let through for the first time."""
    clock: Callable[[], float] = time.monotonic
    """Seconds of a clock that never goes back."""
    _circuits: dict[str, _Circuit] = field(default_factory=dict[str, _Circuit], init=False)
    """Only of providers that failed lately."""
    # Reentrant: a coroutine that is collected while the lock is held abandons its call there.
    _lock: RLock = field(default_factory=RLock, init=False, repr=False)

    def require(self, provider: str) -> None:
        """See that the provider may be called, and take the trial call if it is due.

        Every call that was let through is followed by `succeeded`, `failed` or `abandoned`. A
        trial without an outcome gives way to the next after another cooldown.

        Raises:
            ModelProviderError: With code `circuit_open`: the provider failed several times in a
                row and is left alone for another `retry_after` seconds.
        """
        with self._lock:
            circuit = self._circuits.get(provider)
            if circuit is None or not circuit.opened:
                return
            now = self.clock()
            left = circuit.until - now
            if left <= 0:
                circuit.on_trial = True
                circuit.until = now + circuit.cooldown
                return
            failures = circuit.failures
            wait = min(left, _VERDICT) if circuit.on_trial else left
        raise ModelProviderError(
            f"{provider}: left alone for another {wait:.0f} s after {failures} failures in a row",
            "resume the run later, or choose another model",
            provider=provider,
            error_code="circuit_open",
            retry_after=wait,
        )

    def succeeded(self, provider: str) -> None:
        """Take note of an answer: the provider works."""
        with self._lock:
            self._circuits.pop(provider, None)

    def failed(self, provider: str) -> None:
        """Take note of a transient failure.

        Failures that another try cannot mend say nothing about the provider: they are `abandoned`.
        """
        with self._lock:
            circuit = self._circuits.setdefault(provider, _Circuit(self.cooldown))
            circuit.failures += 1
            if circuit.on_trial:
                circuit.cooldown = min(2 * circuit.cooldown, LONGEST_COOLDOWN)
            # A call that was made before the breaker opened must not keep it open.
            elif circuit.opened or circuit.failures < self.threshold:
                return
            circuit.opened, circuit.on_trial = True, False
            circuit.until = self.clock() + circuit.cooldown

    def abandoned(self, provider: str) -> None:
        """Take note that a call ended without a verdict; a trial is then free for the next call."""
        with self._lock:
            circuit = self._circuits.get(provider)
            if circuit is not None and circuit.on_trial:
                circuit.on_trial = False
                circuit.until = self.clock()

    def open_providers(self) -> tuple[str, ...]:
        """The providers that no call is let through to now, in alphabetical order."""
        with self._lock:
            now = self.clock()
            return tuple(
                sorted(
                    provider
                    for provider, circuit in self._circuits.items()
                    if circuit.opened and circuit.until > now
                )
            )
