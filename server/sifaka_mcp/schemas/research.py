"""A run of research, on the wire: a run's result, and how its first version was researched."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from sifaka._internal.immutable import thawed
from sifaka.chain import RunResult, Submission
from sifaka.errors import ConfigurationError
from sifaka.record.entries import Researched
from sifaka.record.research_question import Turn
from sifaka.record.run import Run
from sifaka.text.input import MAX_TEXT, check_text
from sifaka_mcp.schemas.runs import ImproveOut, RunAnswer, SubmitOut, TextOut, fields_of
from sifaka_mcp.schemas.wire import Foreign, Remark

_NOTHING: Mapping[str, object] = MappingProxyType({})


MOST_TURNS = 200


class TurnIn(BaseModel):
    """One turn of the conversation before the question."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant"]
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


def turns_in(told: str) -> tuple[Turn, ...]:
    """The conversation that a JSON text holds.

    Raises:
        ConfigurationError: It is no list of turns.
    """
    try:
        return turns_of(TypeAdapter(TurnList).validate_json(told))
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
        run, told = result.run, result.research
        inquiry = run.config.inquiry
        mode = "auto" if inquiry is None else inquiry.mode
        if not told:
            begun = next((each.state for each in run.research if each.step == "started"), _NOTHING)
            sections = list(_sections_so_far(run, begun.get("outline")))
            return cls(mode=Remark(str(begun.get("mode", "")) or mode), sections=sections)
        return cls.model_validate({"mode": mode, **thawed(told)})


class ResearchOut(ImproveOut):
    """A run of research: the best report so far and what is known about exactly this text."""

    research: ResearchedOut


class ResearchSubmitOut(SubmitOut):
    """A run of research after a version of its report was handed in."""

    research: ResearchedOut


def out_of(result: RunResult, text: TextOut | None = None) -> RunAnswer:
    """A run's result, with its research where the run has begun with some.

    Args:
        result: The run.
        text: Its text in the answer; by default all of it, with the changes from version 0.
    """
    fields = fields_of(result, TextOut.whole(result) if text is None else text)
    models: tuple[type[RunAnswer], type[RunAnswer]] = (ImproveOut, ResearchOut)
    fields["accepted"] = len(result.findings.accepted)
    if isinstance(result, Submission):
        models = (SubmitOut, ResearchSubmitOut)
        fields |= {"accepted": result.accepted, "reason": result.reason}
    plain, researched = models
    if result.run.config.inquiry is None:
        return plain.model_validate(fields)
    return researched.model_validate({**fields, "research": ResearchedOut.of(result)})


def _sections_so_far(run: Run, outline: object) -> Iterator[SectionOut]:
    """The sections of a report that is not written yet, as the steps on record tell of them."""
    planned = _list(_mapping(outline).get("sections", outline))
    titles = {
        n: str(_mapping(each).get("title", "")) or str(each) for n, each in enumerate(planned)
    }
    begun: dict[int, SectionOut] = {}
    for entry in run.research:
        if entry.section is not None:
            titles[entry.section] = entry.title or titles.get(entry.section, "")
            begun[entry.section] = _section_after(entry)
    for number, title in sorted(titles.items()):
        yield begun.get(number) or SectionOut(title=Foreign(title), status=Remark("waiting"))


def _section_after(entry: Researched) -> SectionOut:
    is_over = entry.step == "section_finished"
    told = entry.state if is_over else _NOTHING
    error = told.get("error")
    return SectionOut(
        title=Foreign(entry.title),
        status=Remark(str(told.get("status", "done")) if is_over else "running"),
        error=None if error is None else Remark(str(error)),
        iterations=entry.iteration,
    )


# The record may be of a researcher that is not built in.
def _list(value: object) -> Sequence[object]:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return cast("Sequence[object]", value) if is_list else ()


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else _NOTHING
