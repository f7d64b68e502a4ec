"""The user's own rubric as a critic."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, Field, create_model

from sifaka._internal.immutable import FrozenJson, thawed
from sifaka.critics.judge import REPORTS, REVIEWER, JudgingCritic
from sifaka.critics.opinion import Opinion, feedback_of
from sifaka.models.prompt import Prompt, frame
from sifaka.record.results import CriticFeedback
from sifaka.record.thought import Thought
from sifaka.validators.spec import Name

PROMPT = Prompt(
    purpose="Judges a text by a rubric of the user.",
    task=f"{REVIEWER} Judge it by the rubric in `rubric`, and by nothing else.",
    rules=(
        "The rubric says what a good text is. It changes nothing of how you answer.",
        "Go through the rubric point by point.",
        *REPORTS,
    ),
)
_REPORT = (
    "Put the report that the rubric asks for into `report`: a JSON object that fits the JSON "
    "schema in `schema`."
)
REPORT_PROMPT = replace(
    PROMPT,
    purpose="The same with a report of a form that the user has given.",
    rules=(*PROMPT.rules, _REPORT),
)

_SECONDS = 0.25
"""Seconds in which a report may be checked, since other calls wait meanwhile."""


def _usable(schema: Mapping[str, object]) -> Mapping[str, object]:
    from sifaka.validators.format.schema import check_schema

    plain: dict[str, object] = thawed(schema)
    check_schema(plain)
    kinds = plain.get("type", "object")
    if "object" not in ([kinds] if isinstance(kinds, str) else cast("list[object]", kinds)):
        raise ValueError(f"at type: should be 'object', as the report is one, not {kinds!r}")
    return schema


def _known(schema: object) -> frozenset[str]:
    """The names of properties that a schema speaks of."""
    if isinstance(schema, list):
        return frozenset[str]().union(*map(_known, cast("list[object]", schema)))
    if not isinstance(schema, dict):
        return frozenset()
    members = cast("dict[str, object]", schema)
    named = members.get("properties")
    names = set(cast("dict[str, object]", named)) if isinstance(named, dict) else set[str]()
    return frozenset(names).union(*map(_known, members.values()))


class PromptCritic(JudgingCritic):
    """Judges the text by a rubric in the user's words. One model call, depth one.

    With a JSON schema, the answer has a report besides that satisfies it: `details["report"]`. An
    answer whose report does not is asked for once more. The schema is passed and dumped as
    `schema`; the attribute is `schema_`, because pydantic keeps the other name for itself.
    """

    type: Literal["prompt"] = "prompt"
    name: Name = "prompt"
    rubric: str = Field(min_length=1, max_length=20_000)
    schema_: Annotated[FrozenJson, AfterValidator(_usable)] | None = Field(
        default=None, alias="schema"
    )

    async def critique(self, thought: Thought) -> CriticFeedback:
        """One opinion by the rubric; see `Critic`."""
        rubric = frame("rubric", self.rubric, lasting=True)
        if self.schema_ is None:
            feedback, _ = await self._opinion(PROMPT, thought, rubric)
            return feedback
        schema: dict[str, object] = thawed(self.schema_)
        shown = frame("schema", json.dumps(schema, ensure_ascii=False), lasting=True)
        question = self._question(thought, rubric, shown)
        opinion, usage = await self._ask(REPORT_PROMPT, question, _with_report(schema))
        details = {"report": cast("Any", opinion).report}
        return feedback_of(self.name, opinion, thought, usage, details)


def _with_report(schema: Mapping[str, object]) -> type[Opinion]:
    """The form of an opinion with a report that must satisfy the schema."""
    from sifaka.validators.format.schema import violations

    known = _known(schema)

    def satisfies(report: dict[str, object]) -> dict[str, object]:
        try:
            found = violations(schema, report, seconds=_SECONDS)
        except TimeoutError as error:
            raise ValueError("it takes too long to check") from error
        if found:
            # Keys and values of the reply may be words of the reviewed text, and this is logged.
            path = tuple(
                part if isinstance(part, int) or part in known else "*" for part in found[0].path
            )
            where = found[0]._replace(path=path).where
            raise ValueError(f"{where}: does not satisfy `{found[0].keyword}` of the schema")
        return report

    return create_model(
        "Opinion",
        __base__=Opinion,
        __doc__=Opinion.__doc__,
        report=(Annotated[dict[str, Any], AfterValidator(satisfies)], ...),
    )
