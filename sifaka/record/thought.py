"""The Thought: the immutable state of one iteration."""

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Never, Self, cast

from pydantic import ConfigDict, Field

from sifaka._internal.immutable import Frozen, FrozenJson, FrozenMap
from sifaka._internal.renamed import no_attribute
from sifaka.record.results import CriticFeedback, Findings, Issue, ValidationResult
from sifaka.record.usage import Usage

CALLER: Literal["caller"] = "caller"
"""The calling agent, which the run waits for: a writer, and the author of what it submits."""
EDITOR = "editor"
"""The author whose edits are certain one by one and therefore win a tie."""

PERSON = "person"
"""The author whose versions are kept because a person chose them."""


def new_run_id() -> str:
    """A new run id: `run_` and 16 random hexadecimal digits."""
    return f"run_{secrets.token_hex(8)}"


class Document(Frozen):
    """A retrieved text that models and critics may read."""

    text: str
    id: str = ""
    title: str = ""
    url: str = ""
    score: float | None = None
    metadata: FrozenJson = Field(default_factory=dict[str, object])


class ToolCall(Frozen):
    """One tool call an agent made while it wrote the text."""

    tool_name: str
    arguments: FrozenJson = Field(default_factory=dict[str, object])
    result: str = ""
    success: bool = True
    tool_call_id: str = ""


class ThoughtReference(Frozen):
    """A pointer to an earlier version: never a copy of it."""

    thought_id: str
    iteration: int


class Thought(Frozen):
    """The immutable state of ONE iteration: every `add_*` returns a new Thought."""

    # Any bound on its strings makes pydantic refuse half of a surrogate pair.
    model_config = ConfigDict(str_min_length=0)

    prompt: str = ""
    """The task in the user's words; may be empty when there is only a text to improve."""
    text: str = ""
    run_id: str = Field(default_factory=new_run_id)
    iteration: int = 0
    id: str = Field(default_factory=lambda data: f"{data['run_id']}.{data['iteration']}")
    parent_id: str | None = None
    """The version this one was made from."""
    model_prompt: str | None = None
    """The prompt of the model, word for word; None when no model wrote this version."""
    candidate: int = 0
    """Its number among the versions written at the same time."""
    author: str = "input"
    """The author of the text: `input`, `editor`, `caller`, `person` or a model's name."""
    validation_results: FrozenMap[ValidationResult] = Field(
        default_factory=dict[str, ValidationResult]
    )
    findings: Findings = Field(default_factory=Findings)
    """What was measured of it against the original and the task."""
    critic_feedback: tuple[CriticFeedback, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    pre_generation_context: tuple[Document, ...] = ()
    post_generation_context: tuple[Document, ...] = ()
    lessons: tuple[str, ...] = ()
    """Lessons of earlier attempts of the run, the latest last: the writer's memory."""
    history: tuple[ThoughtReference, ...] = ()
    """The versions this one descends from, oldest first."""
    usage: Usage = Field(default_factory=Usage)
    """Usage of writing this version; the usage of critics is in their feedback."""
    created_at: datetime = Field(default_factory=partial(datetime.now, UTC))
    metadata: FrozenJson = Field(default_factory=dict[str, object])

    def add_validation_result(self, name: str, result: ValidationResult) -> "Thought":
        """This thought with one more validator's result, replacing one of the same name."""
        return self.model_copy(
            update={"validation_results": {**self.validation_results, name: result}}
        )

    def add_critic_feedback(self, *feedback: CriticFeedback) -> "Thought":
        """This thought with more critics' feedback."""
        return self.model_copy(update={"critic_feedback": (*self.critic_feedback, *feedback)})

    def add_tool_call(self, tool_call: ToolCall) -> "Thought":
        """This thought with one more tool call."""
        return self.model_copy(update={"tool_calls": (*self.tool_calls, tool_call)})

    def add_pre_generation_context(self, documents: Sequence[Document]) -> "Thought":
        """This thought with more documents for the model that writes."""
        context = (*self.pre_generation_context, *documents)
        return self.model_copy(update={"pre_generation_context": context})

    def add_post_generation_context(self, documents: Sequence[Document]) -> "Thought":
        """This thought with more documents for the critics."""
        context = (*self.post_generation_context, *documents)
        return self.model_copy(update={"post_generation_context": context})

    def add_degraded(self, lines: Sequence[str]) -> "Thought":
        """This thought with notes on what did not work as it should have, one line each."""
        if not lines:
            return self
        earlier = cast("tuple[str, ...]", self.metadata.get("degraded", ()))
        return self.with_metadata({"degraded": (*earlier, *lines)})

    def with_metadata(self, values: Mapping[str, object]) -> "Thought":
        """This thought with more metadata, replacing those of the same names."""
        return self.model_copy(update={"metadata": {**self.metadata, **values}})

    def next_iteration(self, *, iteration: int | None = None, candidate: int = 0) -> "Thought":
        """A fresh thought that descends from this one.

        It starts from this text, without verdicts, feedback, tool calls or usage.

        Args:
            iteration: Its number in the run, when versions that were rejected lie between;
                otherwise one more than this thought's.
            candidate: Its number among those written at the same time.
        """
        return Thought(
            prompt=self.prompt,
            text=self.text,
            run_id=self.run_id,
            iteration=self.iteration + 1 if iteration is None else iteration,
            parent_id=self.id,
            candidate=candidate,
            author=self.author,
            pre_generation_context=self.pre_generation_context,
            lessons=self.lessons,
            history=(*self.history, self.reference()),
            metadata=self.metadata,
        )

    def reference(self) -> ThoughtReference:
        """A pointer to this thought."""
        return ThoughtReference(thought_id=self.id, iteration=self.iteration)

    def with_text(self, text: str, **changes: object) -> "Thought":
        """This thought with another text and other changes; verdicts on the old text go."""
        fresh: dict[str, object] = {
            "validation_results": {},
            "critic_feedback": (),
            "findings": Findings(),
        }
        return self.model_copy(update={"text": text, **fresh, **changes})

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """This thought with other values, which are checked and frozen as on construction."""
        own = {"run_id": self.run_id, "id": self.id, "created_at": self.created_at}
        checked = type(self).model_validate({**own, **(update or {})})
        changes = {name: getattr(checked, name) for name in update or {}}
        return super().model_copy(update=changes, deep=deep)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Never:
            raise no_attribute("Thought", name)

    @property
    def passed(self) -> bool:
        """True when every required validator that ran has passed."""
        return all(r.passed for r in self.validation_results.values() if r.required)

    @property
    def mistakes(self) -> tuple[Issue, ...]:
        """The mistakes of form that its critics found by rules, with any verdict."""
        return tuple(issue for f in self.critic_feedback for issue in f.mistakes)

    @property
    def generated_text(self) -> str:
        """The text."""
        return self.text

    @property
    def retrieved_context(self) -> tuple[str, ...]:
        """The texts of the documents that its writer and its critics were given."""
        documents = (*self.pre_generation_context, *self.post_generation_context)
        return tuple(document.text for document in documents)

    def to_dict(self) -> dict[str, Any]:
        """The thought as plain data for JSON."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The thought of such data; equal to the one that it was made of."""
        return cls.model_validate(data)

    def save_to_file(self, path: str | Path) -> None:
        """Write the thought to a file as indented JSON."""
        Path(path).write_text(self.model_dump_json(indent=2), encoding="utf-8")

    @classmethod
    def load_from_file(cls, path: str | Path) -> "Thought":
        """Read a thought that `save_to_file` wrote; equal to the one that was saved."""
        return cls.model_validate_json(Path(path).read_text(encoding="utf-8"))
