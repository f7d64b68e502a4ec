"""The surroundings of a run for tests, and a verification in them."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from pydantic_ai.models import Model

from sifaka.calls.context import Calls, Journal, fan_out, scope
from sifaka.calls.ledger import Ledger
from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import Criterion, Verification
from sifaka.evidence.verify import PARALLEL, Sheet, verifications
from sifaka.record.entries import Called
from sifaka.record.usage import Budget, Usage


@contextmanager
def recording(
    recorded: Iterable[Called] = (), *, budget: Budget | None = None, replaying: bool = False
) -> Generator[list[Called]]:
    """Within it calls belong to a run that has made those on record; yields the further ones."""
    made: list[Called] = []

    async def append(call: Called) -> None:
        made.append(call)

    calls = Calls(
        ledger=Ledger(budget or Budget(), Usage()),
        journal=Journal(recorded, append),
        replaying=replaying,
        frame_key="a secret of the run",
    )
    with calls.active(), scope("work"):
        yield made


async def verified(
    documents: Iterable[SourceDocument],
    criteria: Sequence[Criterion],
    model: Model | None,
    *,
    question: str = "?",
    parallel: int = PARALLEL,
) -> tuple[Verification, ...]:
    asked = [[Sheet(document, criteria)] for document in documents]
    branches = verifications(asked, question=question, model=model)
    packs = await fan_out(branches, calls_each=0, parallel=parallel)
    return tuple(verification for (verification,) in packs)
