"""The phases of an iteration, and the context of each.

A phase returns entries, which are stored before the next one begins.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sifaka.calls.context import Calls
from sifaka.chain.parts import Parts
from sifaka.chain.recorder import Recorder, doing
from sifaka.record.entries import Entry
from sifaka.record.run import Phase as PhaseName


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseContext:
    """The run that is worked on, and what surrounds the work."""

    parts: Parts
    calls: Calls
    recorder: Recorder

    async def tell(self, phase: PhaseName, message: str) -> None:
        """Emit that a phase begins that takes time, once what was found before it is stored.

        Args:
            phase: The phase.
            message: The work that is being done, for a person.

        Raises:
            VersionConflict, StorageError: As for `Recorder.store`.
        """
        await self.recorder.store()
        if self.recorder.emit is not None:
            await self.recorder.emit(doing(self.recorder.run, phase, message))


Phase = Callable[[PhaseContext], Awaitable[Sequence[Entry]]]
"""Does one step of the work and returns what is to be stored."""
