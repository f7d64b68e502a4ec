"""Lessons of past runs for the next one."""

import logging
from collections.abc import Iterator
from itertools import accumulate

from sifaka.calls.failure_log import report_failure
from sifaka.errors import SifakaError, StorageError, ThoughtNotFound
from sifaka.record.diff import diff
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.protocol import ThoughtStore
from sifaka.text.language import FUNCTION_WORDS
from sifaka.text.prose import cut_line
from sifaka.text.search_terms import language_of, text_terms

logger = logging.getLogger(__name__)

MOST_REMEMBERED = 20
"""Past runs whose lessons a writer can be given."""
_HITS = 100
"""Requested: many versions of one run may match, and runs without lessons do not count."""
_MOST_CHARS = 12_000
"""Of all lessons together, so that a writer's prompt stays one that its model takes."""
_LESSONS = 3
"""Kept of one run, the latest."""
_CHANGES = 3
"""Shown of one version that was rejected."""
_LONGEST = 600
"""Characters of a lesson."""
_READ = 20_000
"""Characters of a text that are read to tell what it is about."""
_LONGEST_QUOTE = 120
"""Characters of a text that a lesson quotes."""


async def lessons_of_similar_runs(store: ThoughtStore, about: str, *, runs: int) -> tuple[str, ...]:
    """The lessons of the runs whose versions match a text or a task best.

    Lessons are a help, not a condition: with a store that cannot be searched, or with runs that
    cannot be read, there are fewer of them, and the log says why.

    Args:
        store: The store of the runs.
        about: The text or the task.
        runs: The number of runs to learn from; those without lessons do not count.

    Returns:
        Reflections of critics and edits that were rejected, those of the most similar run
        first, each in some hundred characters, and at most 12,000 together.
    """
    lessons: dict[str, None] = {}
    taught = 0
    try:
        hits = (await store.search(about, limit=_HITS)).hits
    except SifakaError as error:
        report_failure(logger, "recall", error)
        return ()
    for run_id in dict.fromkeys(hit.run_id for hit in hits):
        try:
            run = await store.load(run_id)
        except ThoughtNotFound:
            continue  # forgotten meanwhile
        except StorageError as error:
            report_failure(logger, "recall", error, run_id=run_id)
            if error.retryable:  # so will be the next
                break
            continue
        learned = lessons_of(run) if _is_related(run, about) else ()
        lessons |= dict.fromkeys(learned)
        taught += bool(learned)
        if taught == runs:
            break
    so_far = zip(lessons, accumulate(map(len, lessons)), strict=True)
    return tuple(lesson for lesson, length in so_far if length <= _MOST_CHARS)


def _is_related(run: Run, about: str) -> bool:
    """True where a run and a text share words that say what they are about.

    A search finds something for any text: by one word as common as `the`, and by meaning always.
    """
    past = " ".join((run.prompt, *(thought.text for thought in run.thoughts)))
    language = language_of(about, past)
    filler = set(text_terms(FUNCTION_WORDS.get(language, ""), language))
    new, old = (set(text_terms(text[:_READ], language)) - filler for text in (about, past))
    fewer = min(len(new), len(old))
    return len(new & old) >= max(1, min(2, fewer), fewer // 4)


def lessons_of(run: Run) -> tuple[str, ...]:
    """The lessons of a run: its last reflections, and its changes that were rejected."""
    reflections = [f.reflection for t in run.thoughts for f in t.critic_feedback if f.reflection]
    rejected = [lesson for thought in run.thoughts for lesson in _describe_rejection(run, thought)]
    lessons = dict.fromkeys([*reflections[-_LESSONS:], *rejected[-_LESSONS:]])
    return tuple(cut_line(lesson, _LONGEST) for lesson in lessons)


def _describe_rejection(run: Run, thought: Thought) -> Iterator[str]:
    decision = run.decisions.get(thought.id)
    if decision is None or decision.accepted or thought.parent_id is None:
        return
    hunks = [h for h in diff(run.thought(thought.parent_id).text, thought.text) if h.op != "equal"]
    if not hunks:
        return
    changes = "; ".join(
        f"{cut_line(h.before, _LONGEST_QUOTE)!r} became {cut_line(h.after, _LONGEST_QUOTE)!r}"
        for h in hunks[:_CHANGES]
    )
    more = f" and {len(hunks) - _CHANGES} more" if len(hunks) > _CHANGES else ""
    yield f"A version was turned down ({decision.reason}) in which {changes}{more}."
