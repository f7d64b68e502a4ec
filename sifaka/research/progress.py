"""What of a research is on record already: what a resume goes on from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sifaka._internal.immutable import Frozen
from sifaka.calls.context import current_calls
from sifaka.record.entries import Called, Researched
from sifaka.record.run import Run
from sifaka.record.usage import Usage
from sifaka.research.mode import Mode
from sifaka.research.state import Outline, Round, Section

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_ai.messages import ModelResponse


class Plan(Frozen):
    """The first step that is put on record."""

    mode: Mode
    outline: Outline


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The steps on record, put together; sections go by their numbers."""

    plan: Plan | None = None
    begun: frozenset[int] = frozenset()
    """The sections whose research has begun."""
    rounds: Mapping[int, tuple[Round, ...]] = field(default_factory=dict[int, tuple[Round, ...]])
    """The iterations of each section that have come to their end."""
    sections: Mapping[int, Section] = field(default_factory=dict[int, Section])
    """The sections that have come to their end."""

    @classmethod
    def of(cls, run: Run) -> "Progress":
        """Put the steps of a run together.

        A section that failed counts as long as the run has not failed since: then it is tried
        again, from its last iteration on.
        """
        plan: Plan | None = None
        begun: set[int] = set()
        rounds: dict[int, tuple[Round, ...]] = {}
        sections: dict[int, Section] = {}
        for entry in run.research:
            number = -1 if entry.section is None else entry.section
            match entry.step:
                case "started":
                    plan = Plan.model_validate(_plain(entry))
                case "section_started":
                    begun.add(number)
                case "looping":
                    one = Round.model_validate(_plain(entry))
                    rounds[number] = (*rounds.get(number, ()), one)
                case "section_finished":
                    section = Section.model_validate(_plain(entry))
                    if section.status == "done" or section.attempt == run.failures:
                        sections[number] = section
                case _:
                    pass
        return cls(plan=plan, begun=frozenset(begun), rounds=rounds, sections=sections)

    def rounds_of(self, number: int) -> tuple[Round, ...]:
        """The iterations of a section that are on record."""
        return self.rounds.get(number, ())


def _plain(entry: Researched) -> object:
    return entry.model_dump(mode="json")["state"]


def place_of(number: int) -> str:
    """Where the journal keeps the calls of a section."""
    return f"section {number}"


def spent_by(number: int, calls: Sequence[Called], rounds: Sequence[Round]) -> Usage:
    """What a section has spent before, by the answers on record.

    Args:
        number: The section's.
        calls: The calls of the run.
        rounds: The section's iterations, which tell how long it has taken.
    """
    from sifaka.models.metered import usage_of

    here = re.escape(current_calls().journal.place().partition("~")[0])
    within = re.compile(rf"{here}(?:~\d+)?/{re.escape(place_of(number))}/")
    reader = _responses()
    answers = [call for call in calls if within.match(call.key) and _is_a_models(call)]
    spent = Usage(seconds=rounds[-1].seconds if rounds else 0.0)
    return sum((usage_of(reader.validate_json(each.response)) for each in answers), start=spent)


def _is_a_models(call: Called) -> bool:
    # What adapters answer is on record in the same way, and has no parts.
    return call.response.startswith('{"parts":')


def _responses() -> "TypeAdapter[ModelResponse]":
    from pydantic import TypeAdapter
    from pydantic_ai.messages import ModelResponse

    return TypeAdapter(ModelResponse)
