"""Who works on a run, as other processes can see it."""

from enum import Enum
from typing import NamedTuple, Protocol


class RunKey(NamedTuple):
    """What a run is known by among those of all tenants."""

    tenant: str
    run_id: str


class Successor(Enum):
    """Who goes on with a run when its worker lets go of it."""

    NOBODY = "nobody"
    """It has stopped, or waits for somebody outside."""
    NOW = "now"
    """Whoever can, at once."""
    LATER = "later"
    """Whoever can, when the lease runs out: what stopped this worker may pass by itself."""


class Leases(Protocol):
    """Says of each run that is worked on that it is, for as long as its worker lives.

    No method raises an error of the place where leases are kept: a run goes on without one.
    """

    @property
    def passed_on(self) -> bool:
        """Whether another process would go on with a run if its worker handed it over now."""
        ...

    @property
    def renewal(self) -> float | None:
        """Seconds after which a lease is taken again; None when it lasts as long as its process."""
        ...

    def prepare(self) -> None:
        """Load in the background what leases are kept with."""
        ...

    async def serve(self) -> None:
        """Take runs over until `aclose`, where leases are passed on."""
        ...

    async def take(self, key: RunKey, *, deaths: int) -> None:
        """Take a lease, or take it again.

        Args:
            key: The run.
            deaths: How many workers have died on it so far.
        """
        ...

    async def let_go(self, key: RunKey, *, deaths: int, successor: Successor) -> None:
        """Give a lease up, or see to it that another worker gets it."""
        ...

    async def held(self, key: RunKey) -> bool:
        """Whether somebody works on a run, or will without being asked."""
        ...

    async def stop_taking_over(self) -> None:
        """Leave the runs of others to others from now on."""
        ...

    async def aclose(self) -> None:
        """Release what leases are kept with."""
        ...


class NoLeases:
    """For a store that no other process sees."""

    passed_on = False
    renewal = None

    def prepare(self) -> None:
        """Nothing takes time to load."""

    async def serve(self) -> None:
        """Nothing is ever taken over."""

    async def take(self, key: RunKey, *, deaths: int) -> None:
        """Nobody else could look."""

    async def let_go(self, key: RunKey, *, deaths: int, successor: Successor) -> None:
        """There is nothing to give up."""

    async def held(self, key: RunKey) -> bool:
        """Nobody else is there."""
        return False

    async def stop_taking_over(self) -> None:
        """Nothing is ever taken over."""

    async def aclose(self) -> None:
        """Nothing to release."""
