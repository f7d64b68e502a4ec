"""Recovery from failures by the record alone: smaller prompts, less at once, the next try."""

import re
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from sifaka.calls.context import PARALLEL
from sifaka.calls.recovery import Recovery, plan_recovery
from sifaka.models.prompt import ORIGINAL, with_original
from sifaka.record.entries import Recovered
from sifaka.record.events import ChainEvent, Phase
from sifaka.record.run import Reached, Run
from sifaka.record.thought import Document, Thought

_SMALLEST = 1_000
"""Characters of the shortest text that is worked on in sections after failures."""
_MOST_HALVINGS = 12
"""After so many nothing is left of a document."""
_DOCUMENT = 20_000
"""Characters of a document before any shortening counts from here."""


def place(run: Run, number: int) -> str:
    """The name of a version's place in the journal; another one after each failure of the run.

    So a resume after a kill finds every answer, and one after a failure asks anew.
    """
    return f"{number}~{run.failures}" if run.failures else str(number)


def first_place(key: str) -> str:
    """A key as it would be had the run never failed: the answer that counted is the last one."""
    return re.sub(r"^(\d+)~\d+", r"\1", key)


def can_be_shortened(run: Run) -> bool:
    """True when a further shortening would leave out something around the text."""
    base = run.champion or run.latest
    if base is None:  # what its first version was to be written from is looked for again
        done = _halvings(run)
        return bool(
            (run.config.retrievers and done < _MOST_HALVINGS) or (run.remembered and not done)
        )
    left = shortened(run, with_original(base, run.original))
    documents = (*left.pre_generation_context, *left.post_generation_context)
    around = left.lessons or left.metadata.get(ORIGINAL)
    if around or any(document.text for document in documents):
        return True
    chars = section_chars(run, base.text)
    return chars is not None and chars > _SMALLEST and len(base.text) > _SMALLEST


def section_chars(run: Run, text: str) -> int | None:
    """The characters beyond which a text is worked on in sections, after failures fewer."""
    chars, halvings = run.config.section_chars, _halvings(run)
    if chars is None or not halvings:
        return chars
    return max(_SMALLEST, min(chars, len(text)) >> halvings)


def parallel(run: Run) -> int:
    """Model calls at the same time: half as many each time that was the way out of a failure."""
    halvings = sum(r.strategy == "fewer_parallel_calls" for r in run.recoveries)
    return max(1, PARALLEL >> halvings)


def shortened(run: Run, thought: Thought) -> Thought:
    """A version with less around it, as often as that was the way out of a failure.

    Each time half of the documents' characters stay; the lessons of earlier attempts and the
    original beside the text go.
    """
    if not run.recoveries:
        return thought
    halvings = _halvings(run)
    if not halvings:
        return thought

    def cut(documents: tuple[Document, ...]) -> tuple[Document, ...]:
        return tuple(
            d.model_copy(update={"text": d.text[: min(len(d.text), _DOCUMENT) >> halvings]})
            for d in documents
        )

    kept = {name: value for name, value in thought.metadata.items() if name != ORIGINAL}
    return thought.model_copy(
        update={
            "pre_generation_context": cut(thought.pre_generation_context),
            "post_generation_context": cut(thought.post_generation_context),
            "lessons": (),
            "metadata": MappingProxyType(kept),
        }
    )


def _halvings(run: Run) -> int:
    return sum(r.strategy == "shorter_context" for r in run.recoveries)


_NEXT: Mapping[Reached, Phase] = MappingProxyType(
    {
        "started": "generate",
        "drafted": "validate",
        "retrieved": "validate",
        "validated": "critique",
        "critiqued": "select",
        "decided": "generate",
        "anchored": "stop",
    }
)
"""The phase in which a run has failed, by the last one that was reached."""


def next_recovery(run: Run) -> Recovery | None:
    """The recovery of a run that has failed; None when it has not, or when there is none."""
    if run.status != "failed" or run.error_code is None:
        return None
    worked_on = _thought_id(run)
    before = [r for r in run.recoveries if (r.thought_id, r.phase) == (worked_on, run.reached)]
    chosen = plan_recovery(
        run.error_code,
        phase=_next(run),
        attempts=len(before),
        retry_after=run.retry_after,
    )
    if chosen and chosen.strategy == "shorter_context" and not can_be_shortened(run):
        return None  # the very same question would be asked again
    return chosen


def recovered(run: Run, chosen: Recovery) -> Recovered:
    """The entry that puts a decision on record."""
    return Recovered(
        strategy=chosen.strategy,
        error=chosen.why,
        thought_id=_thought_id(run),
        phase=run.reached,
    )


def _next(run: Run) -> Phase:
    """The phase in which the run has failed."""
    researches = run.config.inquiry is not None and run.reached == "started"
    return "research" if researches else _NEXT[run.reached]


def unless_recovered(
    listen: Callable[[ChainEvent], Awaitable[None]] | None, *, left: int
) -> Callable[[ChainEvent], Awaitable[None]] | None:
    """A listener that takes research for failed only when nothing more will be tried.

    Args:
        listen: Is told each event.
        left: The number of recoveries that are left.
    """
    if listen is None or left <= 0:
        return listen

    async def tell(event: ChainEvent) -> None:
        goes_on = event.research == "failed" and event.run and next_recovery(event.run)
        await listen(event.model_copy(update={"research": None}) if goes_on else event)

    return tell


def _thought_id(run: Run) -> str | None:
    return run.latest.id if run.latest else None
