"""Revising by edits: a version that says what changes, in place of the whole text."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel, Field, ValidationError

from sifaka.errors import ConfigurationError
from sifaka.models.json_objects import object_of
from sifaka.models.section import SECTION
from sifaka.record.edits import Edit, edited
from sifaka.record.provenance import issues_of
from sifaka.record.results import Issue
from sifaka.record.thought import Thought

TURNED_DOWN = "turned down"
"""The key in a thought's metadata of the version that was written last and not taken, with the
reasons, for a question."""
EDIT = (
    "Revise the text so that it meets the task and every point of the feedback. Answer with the "
    'edits alone, as JSON: {"edits": [{"find": "words that stand once in the text", "replace": '
    '"the words in their place", "why": "the reason, in a few words"}]}. Take so many words into '
    "`find` that they stand there once. Where most of the text changes, answer with the complete "
    "text instead."
)
_EDITS = re.compile(r'\{\s*"edits"\s*:')
"""The beginning of edits, which may have a line or a fence before them."""
_SHORTEST = 400
"""Characters of a text from which its edits are shorter than it."""


class _Edit(BaseModel):
    find: str
    replace: str
    why: str = ""


class _Edits(BaseModel):
    edits: list[_Edit] = Field(max_length=200)


class Revision(NamedTuple):
    """A text that edits have led to."""

    text: str
    changes: Sequence[Mapping[str, object]]
    """The edits that have a reason, for the metadata of a version."""


def is_revised_by_edits(thought: Thought) -> bool:
    """True when all that is to change has its place in the text, so that edits can say it."""
    if SECTION in thought.metadata or TURNED_DOWN in thought.metadata:
        return False
    failed = (each for each in thought.validation_results.values() if not each.passed)
    issues = issues_of(thought)
    is_local = all(each.anchored for each in issues) and all(each.issues for each in failed)
    is_ours = '"edits"' in thought.text  # an answer that is such a text could be taken for edits
    return bool(issues) and is_local and not is_ours and len(thought.text) >= _SHORTEST


def revised(thought: Thought, answer: str) -> Revision | None:
    """The text that the edits in an answer lead to; None where it is no edits.

    Raises:
        ConfigurationError: The edits do not fit the text.
    """
    found = object_of(answer)
    if found is None and (begins := _EDITS.search(answer)):
        found = object_of(answer[begins.start() : answer.rfind("}") + 1])
        if found is None:
            raise ConfigurationError("the edits cannot be read")
    if found is None or "edits" not in found:
        return None
    try:
        given = _Edits.model_validate(found).edits
    except ValidationError as error:
        raise ConfigurationError("the edits are not in the form that was asked for") from error
    return _revision(
        thought.text,
        [Edit(find=e.find, replace=e.replace, reason=e.why.strip() or None) for e in given],
    )


def fixed(thought: Thought) -> Revision | None:
    """The text with the fixes of its review; None where more is to be done than they do.

    Each stands in the place of words that occur once in the text.
    """
    heard = [each for each in thought.critic_feedback if each.status == "ok"]
    issues = [issue for each in heard for issue in each.issues]
    is_all = thought.passed and not any(each.suggestions for each in heard)
    if not issues or not is_all or TURNED_DOWN in thought.metadata:
        return None
    if not all(each.judges_task for each in heard) or any(each.fix is None for each in issues):
        return None
    try:
        return _revision(thought.text, [_of_fix(thought.text, issue) for issue in issues])
    except ConfigurationError:
        return None


def _of_fix(text: str, issue: Issue) -> Edit:
    start, end = issue.start or 0, issue.end or 0
    if not issue.fix and text.endswith("\n\n", 0, start) and text.startswith("\n\n", end):
        end += 2  # a paragraph goes with the blank line below it
    return Edit(find=text[start:end], replace=issue.fix or "", reason=issue.message)


def _revision(text: str, edits: Sequence[Edit]) -> Revision:
    changes = [
        {"start": text.find(each.find), "before": each.find, "message": each.reason}
        for each in edits
        if each.reason
    ]
    return Revision(text=edited(text, edits), changes=changes)
