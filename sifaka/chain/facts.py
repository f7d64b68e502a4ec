"""The guard of facts: each version is compared with the text that the run began with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from anyio import to_thread

from sifaka.calls.journal import scope
from sifaka.chain.phases.context import PhaseContext
from sifaka.errors import BudgetExceeded, ModelProviderError
from sifaka.record.results import TASK_CHANGES, Issue, ValidationResult
from sifaka.record.run import Run
from sifaka.record.task import written
from sifaka.record.thought import Thought
from sifaka.text.words import count_words
from sifaka.validators.execution import THREAD_FROM
from sifaka.validators.facts import KINDS, Allowance, Difference, allowance_of, compare
from sifaka.validators.spec import ISSUE_LIMIT

if TYPE_CHECKING:
    from sifaka.models.journaled import JournaledModel

FACTS = "facts"
"""The name under which its results are filed, and in what was checked."""
_ASKED = "allowed"
"""The key of a model's answer about the task in the details of a result."""
_NEARBY = 40
"""Characters around a fact in an issue's quote up to which the issue is about that fact."""
_SHOWN = 5
_TIGHT = 1.25
"""From how many times its allowed length on a text cannot keep every fact."""


def guards(run: Run) -> bool:
    """True when the versions of a run are compared with its input."""
    original = run.original
    given = original is not None and original.author == "input" and bool(original.text.strip())
    wanted = run.config.facts in {"require", "warn"} and run.config.inquiry is None
    return given and wanted and (run.config.protect or bool(run.prompt))


async def check_facts(context: PhaseContext, version: Thought) -> Mapping[str, ValidationResult]:
    """The result about the facts of a version, where one of them differs; else nothing.

    What the task asks for is told by rules. Where they do not know the task, and a fact differs, a
    model is asked once in a run what the task allows, if there is a model; a critic may have asked
    it in the same answer as for its opinion.

    Raises:
        StorageError: The answer could not be put on record.
        Suspended: The answer of the host is needed.
    """
    run = context.recorder.run
    original = run.original
    if original is None or not guards(run):
        return {}
    text = written(run, version).text  # what the editor replaces is no loss
    if text == original.text:
        return {}
    allowed = allowance_of(run.prompt)
    if _must_shrink(run, original.text):
        allowed = allowed.widened(lose=KINDS)
    known = _answer_on_record(run)
    if known is not None:
        allowed = _widened(allowed, known)
    found = await _differences(run, text, allowed)
    if found and known is None and not allowed.known and context.parts.asked is not None:
        await context.recorder.store()
        known = _said_by_critic(run) or await _asked(context.parts.asked, run.prompt)
        if known is not None:
            found = await _differences(run, text, _widened(allowed, known))
    if not found and known is None:
        return {}
    required = run.config.facts == "require"
    return {FACTS: _result(found, version, text, known, required=required)}


async def facts_by_rules(run: Run, version: Thought) -> Mapping[str, ValidationResult]:
    """The same without a model: what rules, and an answer on record, tell of the task."""
    original = run.original
    if original is None or not guards(run) or version.text == original.text:
        return {}
    allowed = allowance_of(run.prompt)
    if _must_shrink(run, original.text):
        allowed = allowed.widened(lose=KINDS)
    known = _answer_on_record(run) or (None if allowed.known else _said_by_critic(run))
    found = await _differences(run, version.text, _widened(allowed, known) if known else allowed)
    if not found:
        return {}
    required = run.config.facts == "require"
    return {FACTS: _result(found, version, version.text, known, required=required)}


def _must_shrink(run: Run, text: str) -> bool:
    """True when a required length leaves no room for all of the input."""
    limits = [
        v for v in run.config.validators if v.get("type") == "length" and v.get("required", True)
    ]
    words = [int(str(v["max_words"])) for v in limits if v.get("max_words") is not None]
    characters = [int(str(v["max_chars"])) for v in limits if v.get("max_chars") is not None]
    return any(most * _TIGHT < count_words(text) for most in words) or any(
        most * _TIGHT < len(text) for most in characters
    )


def lesson(run: Run) -> tuple[str, ...]:
    """What the writer is told about the facts of the version that was turned down last."""
    latest = run.latest
    if latest is None or latest.id == run.champion_id:
        return ()
    result = latest.validation_results.get(FACTS)
    if result is None or result.passed or not result.required or not guards(run):
        return ()
    return (f"The version before was turned down. {result.message}. Keep the facts as they are.",)


async def _differences(run: Run, text: str, allowed: Allowance) -> Sequence[Difference]:
    original = run.original
    assert original is not None, "a run is guarded only with an input"
    told = "\n".join(_told(run))
    work = partial(compare, original.text, text, told, allowed)
    if len(original.text) + len(text) > THREAD_FROM:
        found = await to_thread.run_sync(work, abandon_on_cancel=True)
    else:
        found = work()
    asked = tuple(_asked_for(run))
    return [d for d in found if not (d.before and any(_points_at(i, d.before) for i in asked))]


def _told(run: Run) -> Iterator[str]:
    """The texts that new facts may come from: the task, the validators and the documents."""
    yield run.prompt
    for thought in run.thoughts:
        for result in thought.validation_results.values():
            if not result.passed and result.validator != FACTS:
                yield from (result.message, *result.suggestions)
                for issue in result.issues:
                    yield from (issue.message, issue.fix or "")
        for feedback in thought.critic_feedback:
            if not feedback.judges_task:
                yield from (issue.fix or "" for issue in feedback.issues)
        documents = (*thought.pre_generation_context, *thought.post_generation_context)
        yield from (f"{document.title}\n{document.text}\n{document.url}" for document in documents)
        yield from (call.result for call in thought.tool_calls)


def _asked_for(run: Run) -> Iterator[Issue]:
    """The places that validators, and critics that read by rules, want to be changed.

    What a model criticises is an opinion: no fact is given up for it.
    """
    for thought in run.thoughts:
        for result in thought.validation_results.values():
            if result.validator != FACTS:
                yield from (issue for issue in result.issues if issue.quote)
        for feedback in thought.critic_feedback:
            if not feedback.judges_task:
                yield from (issue for issue in feedback.issues if issue.quote)


def _points_at(issue: Issue, span: str) -> bool:
    """True when an issue is about a fact; a contradicted claim is about all of its facts."""
    is_wrong = issue.category == "evidence" and issue.rule in {"contradicted", "mixed"}
    return span in issue.quote and (is_wrong or len(issue.quote) <= len(span) + _NEARBY)


def _result(
    found: Sequence[Difference],
    version: Thought,
    text: str,
    known: Mapping[str, object] | None,
    *,
    required: bool,
) -> ValidationResult:
    details: dict[str, Any] = {} if known is None else {_ASKED: dict(known)}
    if not found:
        return ValidationResult(
            passed=True,
            message="the task asks for what differs",
            validator=FACTS,
            required=required,
            details=details,
        )
    lines = [_line(difference.message) for difference in found]
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    placed = version.text == text
    return ValidationResult(
        passed=False,
        message=f"not the facts of the original: {'; '.join(lines[:_SHOWN])}{more}",
        validator=FACTS,
        required=required,
        score=1 / (1 + len(found)),
        issues=tuple(
            _issue(difference, line, text if placed else None)
            for difference, line in zip(found[:ISSUE_LIMIT], lines, strict=False)
        ),
        details=details,
    )


def _issue(difference: Difference, message: str, text: str | None) -> Issue:
    start, end = difference.start, difference.end
    if text is None or start is None or end is None:
        return Issue(message=message, category=FACTS, severity=4, rule=difference.kind)
    return Issue.at(text, start, end, message, category=FACTS, severity=4, rule=difference.kind)


def _line(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= 160 else line[:159] + "…"


def _answer_on_record(run: Run) -> Mapping[str, object] | None:
    for thought in run.thoughts:
        result = thought.validation_results.get(FACTS)
        if result is not None and _ASKED in result.details:
            return cast("Mapping[str, object]", result.details[_ASKED])
    return None


def _said_by_critic(run: Run) -> Mapping[str, object] | None:
    for thought in run.thoughts:
        for feedback in thought.critic_feedback:
            if TASK_CHANGES in feedback.details:
                return cast("Mapping[str, object]", feedback.details[TASK_CHANGES])
    return None


def _widened(allowed: Allowance, known: Mapping[str, object]) -> Allowance:
    def kinds(key: str) -> list[Any]:
        listed = known.get(key, ())
        return [str(k).removesuffix("s") for k in cast("Sequence[object]", listed)]

    changed = kinds("change")
    more = allowed.widened(lose=[*kinds("omit"), *changed], add=[*kinds("add"), *changed])
    return replace(more, replaces=allowed.replaces or bool(changed))


async def _asked(model: "JournaledModel", task: str) -> Mapping[str, object] | None:
    """The model's answer what the task allows; None when it gives none."""
    from sifaka.models.prompt import DATA_NOTICE, frame
    from sifaka.models.structured import ask
    from sifaka.models.task_changes import QUESTION, TaskChanges

    asked = f"{QUESTION} {DATA_NOTICE}"
    try:
        with scope(FACTS):
            answer, _ = await ask(model, asked, frame("task", task), TaskChanges)
    except (ModelProviderError, BudgetExceeded):
        return None
    return answer.model_dump(mode="json")
