"""What past runs have to say to the next one."""

from collections.abc import Iterator

from sifaka.diff import diff
from sifaka.run import Run
from sifaka.storage.protocol import Hits, ThoughtStore
from sifaka.thought import Thought

_HITS_PER_RUN = 5
"""Several versions of one run match, so more hits than runs are asked for."""
_LESSONS = 3
"""Kept of one run, the latest."""
_CHANGES = 3
"""Shown of one version that was turned down."""
_LONGEST = 600
"""Characters of a lesson."""
_LONGEST_QUOTE = 120
"""Characters of a text that a lesson quotes."""


async def lessons_of_similar_runs(store: ThoughtStore, about: str, *, runs: int) -> tuple[str, ...]:
    """What was learned in the runs whose versions match a text or a task best.

    Args:
        store: Where the runs are.
        about: The text or the task.
        runs: How many runs to learn from; those without lessons do not count.

    Returns:
        Reflections of critics and edits that were turned down, those of the most similar run
        first, each in some hundred characters.

    Raises:
        StorageError: The store failed.
    """
    hits = await store.search(about, limit=runs * _HITS_PER_RUN)
    lessons: list[str] = []
    taught = 0
    for run_id in _runs(hits):
        if taught == runs:
            break
        learned = lessons_of(await store.load(run_id))
        lessons += [lesson for lesson in learned if lesson not in lessons]
        taught += bool(learned)
    return tuple(lessons)


def lessons_of(run: Run) -> tuple[str, ...]:
    """What a run has to teach: its last reflections, and what was tried in vain."""
    reflections = [f.reflection for t in run.thoughts for f in t.critic_feedback if f.reflection]
    refused = [lesson for thought in run.thoughts for lesson in _refused(run, thought)]
    found = dict.fromkeys([*reflections[-_LESSONS:], *refused[-_LESSONS:]])
    return tuple(_short(lesson, _LONGEST) for lesson in found)


def _runs(hits: Hits) -> Iterator[str]:
    yield from dict.fromkeys(hit.run_id for hit in hits.hits)


def _refused(run: Run, thought: Thought) -> Iterator[str]:
    decision = run.decisions.get(thought.id)
    if decision is None or decision.accepted or thought.parent_id is None:
        return
    hunks = [h for h in diff(run.thought(thought.parent_id).text, thought.text) if h.op != "equal"]
    if not hunks:
        return
    changes = "; ".join(
        f"{_short(h.before, _LONGEST_QUOTE)!r} became {_short(h.after, _LONGEST_QUOTE)!r}"
        for h in hunks[:_CHANGES]
    )
    more = f" and {len(hunks) - _CHANGES} more" if len(hunks) > _CHANGES else ""
    yield f"A version was turned down ({decision.reason}) in which {changes}{more}."


def _short(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
