"""What all adapters together have found."""

from typing import Literal

from pydantic import Field

from sifaka._internal.immutable import Frozen, FrozenMap
from sifaka.evidence.documents import SourceDocument

SearchStatus = Literal["found", "no_results", "search_failed"]


class Searched(Frozen):
    """The merged results of one search."""

    status: SearchStatus
    documents: tuple[SourceDocument, ...] = ()
    """Each once, best first, at most as many as were wanted."""
    failures: FrozenMap[str] = Field(default_factory=dict[str, str])
    """Why an adapter could not answer, in one line, by its name."""
    notes: tuple[str, ...] = ()
    """What else a reader should know, such as how many documents had no date."""

    @property
    def degraded(self) -> tuple[str, ...]:
        """One line for each adapter that failed."""
        return tuple(f"{name}: {error}" for name, error in sorted(self.failures.items()))
