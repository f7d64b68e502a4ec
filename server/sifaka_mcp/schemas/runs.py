"""A run in an answer: its text, whole or as changes of what the caller has, and its verdicts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from sifaka._internal.immutable import thawed
from sifaka.chain import RunResult, Submission
from sifaka.chain.brief import TOOLS, Door, ledger_of
from sifaka.errors import ConfigurationError
from sifaka.record.diff import Hunk, diff, edits_of
from sifaka.record.entries import Researched, RunStatus, StopReason
from sifaka.record.provenance import reasons_for
from sifaka.record.research_question import Turn
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.text.input import MAX_TEXT, check_text
from sifaka.text.limits import Asked
from sifaka_mcp.schemas.verdicts import DifferenceOut, IssueList, UsageOut, ValidationOut
from sifaka_mcp.schemas.wire import Foreign, Remark, Wire

Return = Literal["auto", "text", "diff", "none"]
"""How an answer gives the text. `auto`: `unchanged` where the caller has it, changes alone where
they are shorter by half, else all of it; a short one with its changes."""
SHORT = 2_000
"""Characters up to which a changed text is always given whole."""
LONG = 4_000
"""Characters from which a text is linked, and is not in both parts of an answer."""
_NOTHING: Mapping[str, object] = MappingProxyType({})


MOST_TURNS = 200


class HunkOut(Wire):
    """One change, and the issue that asked for it, if one did."""

    op: Literal["insert", "delete", "replace"]
    before: Foreign
    after: Foreign
    reason: Annotated[Remark, BeforeValidator(lambda reason: reason or "")]


class TextOut(BaseModel):
    """A text in an answer. Null where it is `unchanged` or `diff` says all of it.

    Each `before` of such a `diff` occurs once in the text that the caller has.
    """

    text: Foreign | None = None
    unchanged: bool = False
    text_uri: str | None = None
    diff: list[HunkOut] = []

    @classmethod
    def of(cls, result: RunResult, how: Return, known_text: str | None) -> "TextOut":
        """As much of it as the caller needs.

        Args:
            result: The run.
            how: As the caller wants it.
            known_text: The text that the caller has; None when it has none.
        """
        text, whole = result.text, Foreign(result.text)
        uri = f"thought://{result.thought.id}/text" if len(text) > LONG else None
        if how == "none" or (how == "auto" and text == known_text):
            return cls(unchanged=text == known_text, text_uri=uri)
        if how == "text" or known_text is None:
            return cls(text=whole, text_uri=uri, unchanged=text == known_text)
        original = result.run.original
        is_first = original is not None and known_text == original.text
        hunks = result.diff if is_first else diff(known_text, text)
        if how == "auto" and len(text) <= SHORT:
            return cls(text=whole, diff=_changed(hunks))
        edits = edits_of(hunks)
        exact = [
            HunkOut.model_validate(
                {"op": "replace", "before": edit.find, "after": edit.replace, "reason": edit.reason}
            )
            for edit in edits or ()
        ]
        size = len(json.dumps([each.model_dump() for each in exact], ensure_ascii=False))
        if edits is not None and (how == "diff" or size <= len(text) / 2):
            return cls(diff=exact, text_uri=uri, unchanged=text == known_text)
        return cls(text=whole, text_uri=uri)


def _changed(hunks: Iterable[Hunk]) -> list[HunkOut]:
    return [HunkOut.of(hunk) for hunk in hunks if hunk.op != "equal"]


def changes(before: Thought | None, after: Thought) -> list[HunkOut]:
    """The changes from one version to the one that was made of it."""
    if before is None or before.id == after.id:
        return []
    return _changed(diff(before.text, after.text, reasons_for(before, after)))


class FailureOut(Wire):
    """A validator the text does not pass."""

    validator: Remark
    message: Remark
    suggestions: list[Remark]


class BriefOut(Wire):
    """All you need to write the next version of `text`."""

    parent_id: str
    instructions: Remark
    failures: list[FailureOut]
    rubric: list[Remark]
    issues: IssueList
    lessons: list[Remark] = Field([])
    sheet: list[Remark] = Field([])


class CheckOut(Wire):
    """Something that was checked, or was not, for a reason."""

    what: Remark
    done: bool
    reason: Remark | None = None


class TurnedDownOut(BaseModel):
    """A version that was written and not kept."""

    version: int
    author: Remark
    reason: Remark


class AskedOut(Asked, Wire):
    """A limit in the words of the task, as it was measured."""


class RunAnswer(TextOut):
    """A run: its best text so far and what is known about exactly this text.

    After a version that was not taken the verdicts, issues and differences are those of it.
    """

    run_id: str
    thought_id: str
    status: RunStatus
    changed: bool
    passed: bool
    stop_reason: StopReason | None
    judged_by: Remark
    iterations: int
    model: Remark
    differences: list[DifferenceOut]
    asked: list[AskedOut]
    ledger: Remark
    validation_results: list[ValidationOut]
    issues: IssueList
    left: IssueList
    checked: list[CheckOut]
    turned_down: list[TurnedDownOut]
    usage: UsageOut
    brief: BriefOut | None = None
    degraded: list[Remark]


class ImproveOut(RunAnswer):
    """A run after some work on it."""

    accepted: int
    """Differences of the best text that the caller or a person has accepted."""


class SubmitOut(RunAnswer):
    """A run after a revision, and what became of the revision."""

    accepted: bool
    reason: Remark


class TurnIn(Turn):
    """One turn of the conversation before the question."""

    text: str = Field(max_length=MAX_TEXT)


TurnList = Annotated[list[TurnIn], Field(max_length=MOST_TURNS)]


def turns_of(turns: Sequence[TurnIn] | None) -> tuple[Turn, ...]:
    """The conversation for the library.

    Raises:
        ConfigurationError: A text in it cannot be used.
    """
    return tuple(
        Turn(role=turn.role, text=check_text(turn.text, f"history[{number}].text"))
        for number, turn in enumerate(turns or ())
    )


def turns_in(text: str) -> tuple[Turn, ...]:
    """The conversation that a JSON text holds.

    Raises:
        ConfigurationError: It is no list of turns.
    """
    try:
        return turns_of(TypeAdapter(TurnList).validate_json(text))
    except ValidationError as error:
        raise ConfigurationError(
            f"the history is no list of turns: {error.errors()[0]['msg']}",
            'write it as [{"role": "user", "text": "..."}]',
        ) from error


class SectionOut(BaseModel):
    """A section of the report."""

    title: Foreign
    status: Remark
    """`waiting`, `running`, `done` or `failed`."""
    error: Remark | None = None
    iterations: int = 0


class ReferenceOut(BaseModel):
    """What `[n]` in the report stands for."""

    n: int
    title: Foreign = Foreign("")
    author: Foreign = Foreign("")
    published: Remark | None = None
    url: Foreign = Foreign("")
    id: Foreign = Foreign("")
    """A path with its page, or the number that the source gives it."""
    also: list[Foreign] = []
    """The further places that have the same content."""
    adapter: Remark = Remark("")
    retrieved_at: str = ""


class ResearchedOut(BaseModel):
    """How far the research is, or how it went."""

    mode: Remark
    partial: bool = False
    sections: list[SectionOut] = []
    references: list[ReferenceOut] = []
    stop_reasons: list[Remark] = []

    @classmethod
    def of(cls, result: RunResult) -> "ResearchedOut":
        """The wire form."""
        run, state = result.run, result.research
        inquiry = run.config.inquiry
        mode = "auto" if inquiry is None else inquiry.mode
        if not state:
            begun = next((each.state for each in run.research if each.step == "started"), _NOTHING)
            return cls(
                mode=Remark(str(begun.get("mode", "")) or mode),
                sections=_sections_so_far(run, begun.get("outline")),
            )
        return cls.model_validate({"mode": mode, **thawed(state)})


class ResearchOut(ImproveOut):
    """A run of research: the best report so far and what is known about exactly this text."""

    research: ResearchedOut


class ResearchSubmitOut(SubmitOut):
    """A run of research after a version of its report was handed in."""

    research: ResearchedOut


def out_of(result: RunResult, text: TextOut | None = None, door: Door = TOOLS) -> RunAnswer:
    """A run's result, with its research where the run has begun with some.

    Args:
        result: The run.
        text: Its text in the answer; by default all of it, with the changes from version 0.
        door: Where the answer is read.
    """
    run, findings, brief = result.run, result.findings, result.brief_at(door)
    submission = result if isinstance(result, Submission) else None
    has_inquiry = run.config.inquiry is not None
    # By the sheet the caller reads, or has read, what the ledger would say again.
    ended_by_sheet = run.stop_reason == "accepted" and run.config.own_review
    has_sheet = ended_by_sheet or bool(brief and brief.sheet)
    fields: dict[str, Any] = {
        **({"text": result.text, "diff": result.changes} if text is None else dict(text)),
        "run_id": run.run_id,
        "thought_id": result.thought.id,
        "status": run.status,
        "changed": result.changed,
        "passed": run.passed,
        "stop_reason": run.stop_reason,
        "judged_by": run.judged_by,
        "iterations": run.iterations,
        "model": run.config.model,
        "differences": findings.differences,
        "asked": findings.asked,
        "ledger": ""
        if result.thought.author == "input"
        else ledger_of(findings, with_sheet=has_sheet),
        "validation_results": result.validation_results,
        "issues": result.issues,
        "left": result.left,
        "checked": result.checked,
        "turned_down": [
            {
                "version": each.iteration,
                "author": each.author,
                "reason": run.decisions[each.id].reason,
            }
            for each in result.turned_down
        ],
        "usage": run.usage,
        "brief": brief,
        "degraded": result.degraded,
        "accepted": submission.accepted if submission else len(findings.accepted),
        "reason": submission.reason if submission else "",
        "research": ResearchedOut.of(result) if has_inquiry else None,
    }
    return _ANSWERS[submission is not None, has_inquiry].model_validate(fields)


_ANSWERS: Mapping[tuple[bool, bool], type[RunAnswer]] = MappingProxyType(
    {
        (False, False): ImproveOut,
        (False, True): ResearchOut,
        (True, False): SubmitOut,
        (True, True): ResearchSubmitOut,
    }
)
"""The model of an answer, by whether a version was handed in, and whether it is research."""


def _sections_so_far(run: Run, outline: object) -> list[SectionOut]:
    """The sections of a report that is not written yet, as the steps on record tell of them."""
    planned = _as_mapping(outline).get("sections", outline)
    # The record may be of a researcher that is not built in.
    is_list = isinstance(planned, Sequence) and not isinstance(planned, str)
    titles = cast("Sequence[object]", planned) if is_list else ()
    sections = {
        n: SectionOut(
            title=Foreign(str(_as_mapping(each).get("title") or each)), status=Remark("waiting")
        )
        for n, each in enumerate(titles)
    }
    sections |= {e.section: _section_after(e) for e in run.research if e.section is not None}
    return [section for _, section in sorted(sections.items())]


def _section_after(entry: Researched) -> SectionOut:
    is_over = entry.step == "section_finished"
    state = entry.state if is_over else _NOTHING
    error = state.get("error")
    return SectionOut(
        title=Foreign(entry.title),
        status=Remark(str(state.get("status", "done")) if is_over else "running"),
        error=None if error is None else Remark(str(error)),
        iterations=entry.iteration,
    )


def _as_mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else _NOTHING
