"""The kinds of facts that a task asks to change, as a model reads the task."""

from typing import Literal

from pydantic import Field

from sifaka.models.coercion import Form

WHICH_KINDS = "Name a kind only if the task cannot be done otherwise; most tasks ask for none."
QUESTION = (
    "A writer revises a text for a task. Say which kinds of facts the task asks to change, to "
    f"leave out, or to add. {WHICH_KINDS}"
)
_KindName = Literal["numbers", "dates", "times", "urls", "emails", "code", "quotes", "names"]


class TaskChanges(Form):
    """The kinds of facts that the task asks to change, to leave out, or to add."""

    change: list[_KindName] = Field(default_factory=list[_KindName])
    omit: list[_KindName] = Field(default_factory=list[_KindName])
    add: list[_KindName] = Field(default_factory=list[_KindName])
