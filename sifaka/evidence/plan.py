"""What to search for, and what to hold what is found against."""

from pydantic import Field

from sifaka._internal.immutable import Frozen
from sifaka.evidence.criteria import Criterion
from sifaka.record.usage import Usage


class Plan(Frozen):
    """The plan for one question."""

    question: str
    queries: tuple[str, ...] = Field(min_length=1, max_length=4)
    """What is searched for, most telling first."""
    criteria: tuple[Criterion, ...] = Field(min_length=1, max_length=4)
    degraded: str | None = None
    """Why it was made without a model, in one line; None when a model made it."""
    notes: tuple[str, ...] = ()
    """What was wrong with the model's plan and has been put right, one line each."""
    usage: Usage = Usage()
    """What making it has consumed."""
