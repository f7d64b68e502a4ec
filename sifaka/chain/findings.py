"""The findings of a version: what differs from the input, measured, and who has answered it.

Words are compared, meaning is not. A difference that the task, a rule or a source does not explain
is open until whoever judges answers it, once.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from sifaka.isolation import GIVEN_UP, run_limited
from sifaka.record.outcome import source_of
from sifaka.record.results import FACTS, Findings, opened_if_lost
from sifaka.record.run import Run
from sifaka.record.thought import PERSON, Thought
from sifaka.text.differences import Difference, Differences, compare
from sifaka.text.limits import Asked, asked_of

_FIGURES = FACTS - {"name"}
"""The kinds that no version without a task may lose unasked."""
_TOO_MUCH = "a text that takes too long to compare"


def is_compared(run: Run) -> bool:
    """True when the versions of a run are compared with its input."""
    original = run.original
    has_input = original is not None and original.author == "input" and bool(original.text.strip())
    wanted = run.config.facts in {"ask", "require"} and run.config.inquiry is None
    return has_input and wanted and (run.config.protect or bool(run.prompt))


async def of_input(run: Run, version: Thought) -> Findings:
    """What the input lacks of the material that its task gives, and of the task's limits."""
    absent = await _find_absent(run, version.text) if version.text.strip() else ()
    return Findings(differences=absent, asked=_measure_limits(run, version))


async def by_person(run: Run, version: Thought) -> Findings:
    """The findings of a version that is kept because a person chose it, who answers them all."""
    findings = await findings_of(run, version)
    differences = tuple(
        each.model_copy(update={"status": "accepted", "by": PERSON})
        if each.status == "open"
        else each
        for each in findings.differences
    )
    return findings.model_copy(update={"differences": differences})


async def findings_of(run: Run, version: Thought) -> Findings:
    """What was measured of a version against the input and the limits of its task."""
    original, limits = run.original, _measure_limits(run, version)
    text = source_of(run, version).text  # what the editor replaces is no loss
    # A limit in words of the task that a version does not meet is asked about once.
    unmet = [
        Difference(
            id="d",
            kind="length",
            before=each.limit if each.what == "language" else f"{each.limit} {each.what}",
            after=each.measured,
        )
        for each in limits
        if not each.met
    ]
    if original is None or not is_compared(run) or text == original.text:
        absent = await _find_absent(run, text)
        return Findings(asked=limits, differences=_add_answers(run, version, [*unmet, *absent]))
    try:
        compared = await _compare_texts(run, original.text, text)
    except GIVEN_UP:
        lost = Difference(id="d", kind="data", before=_TOO_MUCH, after=_TOO_MUCH)
        return Findings(asked=limits, differences=_add_answers(run, version, [lost, *unmet]))
    differences = _add_answers(run, version, [*unmet, *compared.differences])
    return Findings(differences=differences, asked=limits, kept=compared.kept, total=compared.total)


async def _find_absent(run: Run, text: str) -> tuple[Difference, ...]:
    """The figures of the task, and the lines of its material, that a text lacks: not asked."""
    wanted = run.config.facts in {"ask", "require"} and run.config.inquiry is None
    if not (wanted and run.prompt.strip()):
        return ()
    try:
        return (await _compare_texts(run, text, text)).differences
    except GIVEN_UP:
        return ()


async def _compare_texts(run: Run, original: str, text: str) -> Differences:
    comparison = partial(
        compare, task=run.prompt, sources=tuple(_sources(run)), failing=tuple(_list_failures(run))
    )
    return await run_limited(comparison, original, text, size=len(original) + len(text))


def _measure_limits(run: Run, version: Thought) -> tuple[Asked, ...]:
    worded = run.prompt.strip() and version.text.strip()
    return asked_of(run.prompt, version.text) if worded else ()


def _sources(run: Run) -> Iterator[str]:
    """The texts that new facts may come from: what rules ask for, and the documents."""
    for thought in run.thoughts:
        for result in thought.validation_results.values():
            if not result.passed:
                # What a rule quotes it asks for: in a text it is no quotation.
                yield from (each.replace("'", " ") for each in result.suggestions)
                yield from (issue.fix or "" for issue in result.issues)
        documents = (*thought.pre_generation_context, *thought.post_generation_context)
        yield from (f"{document.title}\n{document.text}\n{document.url}" for document in documents)
        yield from (call.result for call in thought.tool_calls)


def _list_failures(run: Run) -> Iterator[str]:
    """The places of the input that a required rule refuses."""
    original = run.original or Thought()
    for result in original.validation_results.values():
        for issue in result.issues if result.required and not result.passed else ():
            whole = original.text[issue.start or 0 : issue.end or 0]
            # A value of data is one place, however long; an object has more than what fails.
            is_value = issue.rule == "schema" and not whole.startswith(("{", "["))
            yield whole if is_value else issue.quote


def _add_answers(run: Run, version: Thought, found: Sequence[Difference]) -> tuple[Difference, ...]:
    """The differences, numbered, with the caller's answers to them."""
    reason = run.declined.get(version.id, "") if run.config.facts == "ask" else ""
    earlier = [
        each
        for thought in run.thoughts
        if thought.id != version.id
        for each in thought.findings.differences
    ]
    shown = {_key(each) for each in earlier if each.status in {"open", "refused"}}
    may_change = bool(run.prompt.strip()) or not (run.original and run.original.passed)
    strict = frozenset[str]() if may_change else _FIGURES
    strict = FACTS if run.config.facts == "require" else strict
    taken = {_key(each): each for each in earlier if each.status == "accepted"}
    return tuple(
        each.model_copy(
            update={"id": f"d{number}", **_decide_status(each, reason, shown, taken, strict=strict)}
        )
        for number, each in enumerate(found, 1)
    )


def _decide_status(
    difference: Difference,
    reason: str,
    shown: set[tuple[str, str, str]],
    taken: Mapping[tuple[str, str, str], Difference],
    *,
    strict: frozenset[str],
) -> Mapping[str, str]:
    """What becomes of a difference; nothing where it stays as it is."""
    key = _key(difference)
    if difference.status != "open":
        return {"status": opened_if_lost(difference, strict).status}
    if answered := taken.get(key):
        return {"status": "accepted", "by": answered.by, "reason": answered.reason}
    if difference.kind == "length" and any(limit == difference.before for _, limit, _ in shown):
        return {"status": "noted"}
    if reason and (key in shown or _names_difference(reason, difference)):
        return {"status": "accepted", "by": "caller", "reason": reason}
    return {}


def _names_difference(reason: str, difference: Difference) -> bool:
    """True when a reason that is given before anything was shown names what differs."""
    words = " ".join(reason.casefold().split())
    values = (" ".join(each.casefold().split()) for each in (difference.before, difference.after))
    return any(value and value in words for value in values)


def _key(difference: Difference) -> tuple[str, str, str]:
    return difference.kind, difference.before, difference.after
