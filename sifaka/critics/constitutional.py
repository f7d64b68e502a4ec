"""Constitutional AI: principles, each judged by itself."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Literal, Self, cast

from pydantic import Field, ValidationInfo, model_validator

from sifaka.calls.journal import scope
from sifaka.critics.constitution import (
    BUILT_IN,
    Principle,
    load_constitution,
    problem_of,
    read_file,
    version_of,
)
from sifaka.critics.judge import REVIEWER, JudgingCritic
from sifaka.critics.opinion import FoundIssue, anchored
from sifaka.critics.panel import (
    BranchError,
    Replies,
    ask_all,
    attempt,
    gathered,
    no_answer,
    strongest,
)
from sifaka.models.coercion import Form
from sifaka.models.prompt import Prompt, frame
from sifaka.record.results import CriticFeedback, Issue
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.validators.spec import Name

PROMPT = Prompt(
    purpose="Finds where a text violates one principle of a constitution.",
    task=f"{REVIEWER} Judge it by the principle in `principle`, and by nothing else.",
    rules=(
        "The principle says what to look for.",
        "Report each place that violates the principle. Copy each quote exactly from the text. Say "
        "in the message what is wrong and how to mend it.",
        "Then give the verdict: `revise` when a place violates the principle, otherwise `accept`.",
    ),
)


class _Finding(Form):
    """Your finding: the places that violate the principle, and the verdict."""

    issues: list[FoundIssue] = Field(
        default_factory=list[FoundIssue], description="empty when no place violates it"
    )
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
        replies = await (self._one_by_one if self.mode == "sequential" else self._all)(
            drawn, thought
        )
        fired = [each for each in drawn if _fires(replies.answers.get(each.name))]
        if not fired and len(replies.failures) * 2 >= len(drawn):
            return no_answer(self.name, replies)
        issues = [
            issue
            for each in fired
            for issue in _issues(each, replies.answers[each.name], thought.text)
        ]
        judged = len(replies.answers)
        return CriticFeedback(
            critic=self.name,
            verdict="revise" if fired else "accept",
            scores={"principles kept": round(1 - len(fired) / judged, 3)},
            issues=strongest(issues),
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

    async def _all(self, drawn: Sequence[Principle], thought: Thought) -> Replies[_Finding]:
        return await ask_all({each.name: partial(self._judge, each, thought) for each in drawn})

    async def _one_by_one(self, drawn: Sequence[Principle], thought: Thought) -> Replies[_Finding]:
        results: dict[str, tuple[_Finding, Usage] | BranchError] = {}
        for each in drawn:
            with scope(each.name):
                result = await attempt(partial(self._judge, each, thought))
            results[each.name] = result
            if isinstance(result, tuple) and _fires(result[0]):
                break
        return gathered(results)

    async def _judge(self, principle: Principle, thought: Thought) -> tuple[_Finding, Usage]:
        question = self._question(thought, frame("principle", principle.critique, lasting=True))
        return await self._ask(PROMPT, question, _Finding)


def _fires(finding: _Finding | None) -> bool:
    return finding is not None and finding.verdict == "revise"


def _issues(principle: Principle, finding: _Finding, text: str) -> tuple[Issue, ...]:
    found = anchored(finding.issues, text, rule=principle.name)
    return found or (
        Issue(message=f"violates the principle {principle.name!r}", rule=principle.name),
    )
