"""Recovery from failures by the record alone: what to try next, with smaller prompts, less at once.

The calls themselves were repeated already, at short intervals; this is about the minutes after.
What is decided follows from a few words that are on record, so a resumed run goes on the same way.
"""

import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sifaka.calls.context import PARALLEL
from sifaka.models.prompt import ORIGINAL, with_original
from sifaka.record.entries import Recovered, Strategy
from sifaka.record.run import ChainEvent, Phase, Reached, Run
from sifaka.record.thought import Document, Thought

LONGEST_WAIT = 60.0
"""Seconds; when a provider asks for more, the run is to be resumed later."""
FIRST_BACKOFF = 2.0
"""Seconds at most before the first further try; doubles with each, full jitter."""
FIRST_PAUSE = 10.0
"""Seconds at most, half of it at least, after a rate limit that names no time; doubles too."""
MOST_ATTEMPTS = 6
"""Recoveries of one phase of one version, for all failures in it."""

_SMALLEST = 1_000
"""Characters of the shortest text that is worked on in sections after failures."""
_MOST_HALVINGS = 12
"""After so many nothing is left of a document."""
_DOCUMENT = 20_000
"""Characters of a document before any shortening counts from here."""


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
"""The strategies, in order, in phases that a version cannot do without; none for other codes."""

_OPTIONAL: Mapping[str, tuple[Strategy, ...]] = MappingProxyType(
    {
        "rate_limit": (*_SLOWER[:2], "skip"),
        "circuit_open": (*_SLOWER[:2], "skip"),
        "context_window": (*_SHORTER, "skip"),
        "memory_limit_error": (*_SHORTER, "skip"),
        # No strategy helps: a person fixes the cause, or the store's fallback does.
        "authentication": (),
        "quota": (),
        "not_found": (),
        "rejected": (),
        "broken": (),
        "content_filter": (),
        "budget_exceeded": (),
        "configuration_error": (),
        "plugin_error": (),
        "stale_revision": (),
        "storage_error": (),
        "thought_not_found": (),
        "version_conflict": (),
    }
)
"""The same for the critique, without which a version can go on; after any other failure it is tried
once more first."""

_MESSAGES: Mapping[Strategy, str] = MappingProxyType(
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


def place(run: Run, name: int | str) -> str:
    """The place in the journal of a version by its number, or of other work by its name.

    It is another one after each failure of the run: so a resume after a kill finds every answer,
    and one after a failure asks anew.
    """
    return f"{name}~{run.failures}" if run.failures else str(name)


def first_place(key: str) -> str:
    """A key as it would be had the run never failed: the answer that counted is the last one."""
    return re.sub(r"^(\d+)~\d+", r"\1", key)


def can_be_shortened(run: Run) -> bool:
    """True when a further shortening would leave out something around the text."""
    base = run.champion or run.latest
    if base is None:  # what its first version was to be written from is looked for again
        done = _count_halvings(run)
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
    chars, halvings = run.config.section_chars, _count_halvings(run)
    if chars is None or not halvings:
        return chars
    return max(_SMALLEST, min(chars, len(text)) >> halvings)


def parallel(run: Run) -> int:
    """Model calls at the same time: half as many each time that was the way out of a failure."""
    return max(1, PARALLEL >> sum(r.strategy == "fewer_parallel_calls" for r in run.recoveries))


def shortened(run: Run, thought: Thought) -> Thought:
    """A version with less around it, as often as that was the way out of a failure.

    Each time half of the documents' characters stay; the lessons of earlier attempts and the
    original beside the text go.
    """
    halvings = _count_halvings(run)
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
            "metadata": kept,
        }
    )


def _count_halvings(run: Run) -> int:
    return sum(r.strategy == "shorter_context" for r in run.recoveries)


def plan_recovery(
    code: str,
    *,
    phase: Phase,
    attempts: int,
    retry_after: float | None = None,
    uniform: Callable[[float, float], float] = random.uniform,
) -> Recovery | None:
    """Choose the recovery after a failure; None when there is none.

    The strategy follows from the arguments alone; only the wait is drawn at random.

    Args:
        code: The `code_of` the error, as it was stored.
        phase: The phase that failed.
        attempts: Recoveries of this phase of this version so far.
        retry_after: Seconds the provider asked to wait.
        uniform: A random number between two.
    """
    # Without the critique a version can go on.
    steps = _OPTIONAL.get(code, ("retry", "skip")) if phase == "critique" else _NEEDED.get(code, ())
    if steps == _ANEW and phase != "generate":
        steps = _AGAIN  # a reply that is not the writer's leaves the version all right
    # Another failure may have used the attempts up before this one came to be skipped.
    at = min(attempts, len(steps) - 1) if "skip" in steps else attempts
    if at >= len(steps) or attempts >= MOST_ATTEMPTS:
        return None
    strategy = steps[at]
    wait = _choose_wait(strategy, attempts, retry_after, uniform)
    if wait > LONGEST_WAIT:
        if "skip" not in steps:
            return None
        strategy, wait = "skip", 0.0
    return Recovery(
        strategy=strategy,
        wait_seconds=wait,
        why=f"{code} in phase {phase}: {_MESSAGES[strategy]}",
    )


def _choose_wait(
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
    worked_on = run.latest.id if run.latest else None
    before = [r for r in run.recoveries if (r.thought_id, r.phase) == (worked_on, run.reached)]
    researches = run.config.inquiry is not None and run.reached == "started"
    recovery = plan_recovery(
        run.error_code,
        phase="research" if researches else _NEXT[run.reached],
        attempts=len(before),
        retry_after=run.retry_after,
    )
    if recovery and recovery.strategy == "shorter_context" and not can_be_shortened(run):
        return None  # the very same question would be asked again
    return recovery


def recovered(run: Run, chosen: Recovery) -> Recovered:
    """The entry that puts a decision on record."""
    return Recovered(
        strategy=chosen.strategy,
        error=chosen.why,
        thought_id=run.latest.id if run.latest else None,
        phase=run.reached,
    )


def unless_recovered(
    listen: Callable[[ChainEvent], Awaitable[None]] | None, *, left: int
) -> Callable[[ChainEvent], Awaitable[None]] | None:
    """A listener that takes research for failed only when nothing more will be tried.

    Args:
        listen: Receives each event.
        left: The number of recoveries that are left.
    """
    if listen is None or left <= 0:
        return listen

    async def tell(event: ChainEvent) -> None:
        goes_on = event.research == "failed" and event.run and next_recovery(event.run)
        await listen(event.model_copy(update={"research": None}) if goes_on else event)

    return tell
