"""Constitutional AI: principles, each judged by itself."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Literal, Self, cast

from pydantic import Field, ValidationInfo, model_validator

from sifaka.calls.context import scope
from sifaka.critics.constitution import (
    BUILT_IN,
    Principle,
    load_constitution,
    problem_of,
    read_file,
    version_of,
)
from sifaka.critics.judge import REVIEWER, JudgingCritic
from sifaka.critics.opinion import LONGEST_REMARK, case
from sifaka.critics.panel import BranchError, Replies, ask_all, attempt, gathered, no_answer
from sifaka.models.prompt import Prompt, frame
from sifaka.models.structured import Form, Whole
from sifaka.record.results import QUOTE_LIMIT, CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.text.anchoring import anchor
from sifaka.validators.spec import Name

PROMPT = Prompt(
    purpose="Finds where a text breaks one principle of a constitution.",
    task=f"{REVIEWER} Judge it by the principle in `principle`, and by nothing else.",
    rules=(
        "Other reviewers look after everything else: do not report it.",
        "Report what breaks the principle once, however many places show it: copy each of these "
        "places exactly into `quotes`, and say in `message` what is wrong there.",
        "Then give the verdict: `revise` when the text breaks the principle, otherwise `accept`.",
    ),
)
_ASKED = "Does the text break the principle?"
_MOST_PLACES, _SHOWN = 6, 80
"""Places that one issue names, and the characters that it repeats of the later ones."""


class _Finding(Form):
    """Your finding about the principle."""

    quotes: list[str] = Field(
        default_factory=list[str], description="the places that break it; empty when none does"
    )
    message: str = Field(default="", description="what is wrong there, in one sentence")
    severity: Whole = Field(default=3, ge=1, le=5, description="1 taste ... 5 unusable")
    verdict: Literal["accept", "revise"]


class ConstitutionalCritic(JudgingCritic):
    """Judges the text by each principle of a constitution, and says what to do where one fired.

    Constitutional AI (Bai et al. 2022, arXiv 2212.08073): a principle binds what to look for to
    what to do about it; only principles that fired pass on their revision request. Batched, all are
    asked in parallel: as many model calls as principles, depth one. Sequential, they are asked one
    after the other up to the first that fires: at most as many calls, and as deep.
    """

    type: Literal["constitutional"] = "constitutional"
    name: Name = "constitutional"
    principles: tuple[Principle, ...] = ()
    """Inline, or what a file was found to hold, or the built-in ones."""
    file: str | None = Field(default=None, exclude=True)
    """A .yaml, .yml or .md file to take them from. It is read once and then forgotten."""
    version: str = ""
    """Of the principles; filled in."""
    mode: Literal["batched", "sequential"] = "batched"
    draw: int | None = Field(default=None, ge=1)
    """Judge each version by so many principles, drawn by the run's id and the version's number;
    the paper draws one a round. None judges by all."""

    @model_validator(mode="before")
    @classmethod
    def _with_principles(cls, data: Any, info: ValidationInfo) -> Any:
        if not isinstance(data, Mapping):
            return data
        given = dict(cast("Mapping[str, object]", data))
        path, inline = given.get("file"), given.get("principles")
        if path is not None and inline is not None:
            raise ValueError("give principles or a file, not both")
        if isinstance(path, str):
            context = cast("Mapping[str, Any]", info.context or {})
            read = cast("Callable[[str], str]", context.get("read_file", read_file))
            quotes = read is read_file
            given |= {"file": None, "principles": load_constitution(path, read, quotes=quotes)}
        elif inline is None:
            given["principles"] = BUILT_IN
        elif isinstance(inline, Sequence):
            # Not in a file: any list of words in one would be a constitution, and quoted.
            given["principles"] = [
                Principle.of_sentence(each) if isinstance(each, str) else each
                for each in cast("Sequence[object]", inline)
            ]
        return given

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if problem := problem_of(self.principles):
            raise ValueError(f"principles: {problem}")
        if self.draw is not None and self.draw > len(self.principles):
            raise ValueError(f"draw: {self.draw} of {len(self.principles)} principles")
        version = version_of(self.principles)
        if self.version not in {"", version}:
            raise ValueError(f"version: {self.version!r} is not that of the principles")
        object.__setattr__(self, "version", version)
        return self

    def calls(self, text: str = "") -> int:
        """One for each principle, or sequentially one."""
        return 1 if self.mode == "sequential" else self.draw or len(self.principles)

    async def critique(self, thought: Thought) -> CriticFeedback:
        """The opinion of the principles that fired; see `Critic`.

        One whose call fails is on record in `degraded`. When that are half of them or more, there
        is no vote.
        """
        drawn = self._drawn(thought)
        if self.mode == "sequential":
            replies = await self._one_by_one(drawn, thought)
        else:
            replies = await ask_all({p.name: partial(self._judge, p, thought) for p in drawn})
        found = replies.answers
        fired = [p for p in drawn if p.name in found and found[p.name].verdict == "revise"]
        if not fired and len(replies.failures) * 2 >= len(drawn):
            return no_answer(self.name, replies)
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if fired else "accept",
            scores={"principles kept": round(1 - len(fired) / len(found), 3)},
            issues=tuple(_issue(p, found[p.name], thought.text) for p in fired),
            suggestions=tuple(each.revision for each in fired),
            details={
                "constitution": self.version,
                "drawn": [each.name for each in drawn],
                "fired": [each.name for each in fired],
            },
            degraded=replies.degraded,
            usage=replies.usage,
        )

    def _drawn(self, thought: Thought) -> tuple[Principle, ...]:
        if self.draw is None:
            return self.principles

        def lot(principle: Principle) -> str:
            key = f"{thought.run_id}\n{thought.iteration}\n{principle.name}"
            return sha256(key.encode()).hexdigest()

        chosen = {each.name for each in sorted(self.principles, key=lot)[: self.draw]}
        return tuple(each for each in self.principles if each.name in chosen)

    async def _one_by_one(self, drawn: Sequence[Principle], thought: Thought) -> Replies[_Finding]:
        results: dict[str, tuple[_Finding, Usage] | BranchError] = {}
        for each in drawn:
            with scope(each.name):
                result = await attempt(partial(self._judge, each, thought))
            results[each.name] = result
            if isinstance(result, tuple) and result[0].verdict == "revise":
                break
        return gathered(results)

    async def _judge(self, principle: Principle, thought: Thought) -> tuple[_Finding, Usage]:
        shown = case(thought, frame("principle", principle.critique, lasting=True))
        return await self._ask(PROMPT, f"{shown}\n\n{_ASKED}", _Finding)


def _issue(principle: Principle, finding: _Finding, text: str) -> Issue:
    """The one issue about a broken principle: at its first place, naming the others."""
    places = [place for quote in finding.quotes[:_MOST_PLACES] if (place := anchor(text, quote))]
    wrong = finding.message.strip()[:LONGEST_REMARK] or f"breaks the principle {principle.name!r}"
    others = ", ".join(repr(text[slice(*place)][:_SHOWN]) for place in places[1:])
    start, end = places[0] if places else (None, None)
    return Issue(
        message=f"{wrong} Also in {others}." if others else wrong,
        quote=text[start:end][:QUOTE_LIMIT] if places else "",
        start=start,
        end=end,
        severity=finding.severity,
        rule=principle.name,
    )
