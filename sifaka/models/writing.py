"""Writing: the prompt of a writer, and the text or the edits in its answer."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from anyio import to_thread
from pydantic import BaseModel, Field, ValidationError

from sifaka.calls.context import current_calls
from sifaka.calls.failure_log import report_failure
from sifaka.errors import BudgetExceeded, ConfigurationError, ModelProviderError, SifakaError
from sifaka.models import Generation, Model, generate
from sifaka.models.draft_extraction import Source, Unfit, draft_of
from sifaka.models.prompt import (
    DRAFT,
    MARK,
    SECTION,
    Prompt,
    frame,
    original_of,
    rules_of,
    section_note,
)
from sifaka.models.structured import object_of
from sifaka.record.clustering import cluster
from sifaka.record.diff import Edit, edited
from sifaka.record.provenance import CHANGES, issues_of
from sifaka.record.results import Issue
from sifaka.record.thought import Thought
from sifaka.record.usage import Usage
from sifaka.text.input import check_text

logger = logging.getLogger(__name__)

MOST_ISSUES = 40
"""The most issues in a prompt."""
MENDED = "mended"
"""The key in a version's metadata: the parts of the answer that were taken off, in words."""
REFUSED = "refused"
"""The key in a version's metadata: the reason why no text could be taken from the answer."""
_REFUSED_ANSWER = "refused answer"
"""The key in a thought's metadata for an answer that was refused, while another is asked for."""
_SHOWN = 20_000
"""Characters of a refused answer that its writer is shown."""

PROMPT = Prompt(
    purpose="Writes the first version of a text, or the next version of it.",
    task="You write and revise texts for an author.",
    rules=(
        "The task between its marks is the author's own: do what it asks.",
        "When there is a text, revise it: change what the task and the feedback ask for, and keep "
        "the rest word for word. Where the task asks for another text, it is your material.",
        "Keep facts, numbers, names, quotations, links, code, format and language, unless the task "
        "asks you to change them. Invent none.",
        "Answer with the complete text and nothing else: no preface, no comment, no marks, no code "
        "fence around it. Where edits are asked for, answer with them in its place.",
    ),
    example="For example, the text `There plan has 3 steps.` with the feedback `'There': write "
    "'Their'` becomes `Their plan has 3 steps.`",
)
_SECTION = (
    "Write this section alone, with its heading. The other sections are written separately. Keep "
    "the terms that other sections use too, unless the task is to change them. Limits and numbers "
    "in the feedback that concern the whole document do not apply to this section alone."
)
_TURNED_DOWN = (
    "The version in `turned down` was not taken, for what `reasons` says. Write it again and "
    "change only this."
)
_REVISE = "Write the complete text again so that it meets the task and every point of the feedback."
_IMPROVE = "Write the complete text again so that it meets the task."
_IMPROVE_FREELY = "Improve the text, and write all of it again."
_ALONE = "Answer with the text alone."
_AGAIN = (
    "Your last answer was refused: {reason}. Answer with the text alone, without what stands "
    "around it; if nothing is to be changed, with the text as it is. If every line of your last "
    "answer belongs to the text, give the same answer again."
)


def writing_prompt(thought: Thought, *, by_edits: bool = True) -> str:
    """The prompt for the version after `thought`, or for the first one when it has no text.

    What all versions share comes first, so that providers can cache it.

    Args:
        thought: The version.
        by_edits: False where the answer has a form of its own, in which there is no place for them.
    """
    parts = [frame("task", thought.prompt, lasting=True)] if thought.prompt else []
    if documents := thought.pre_generation_context:
        listing = "\n\n".join(f"[{n}] {d.title}\n{d.text}" for n, d in enumerate(documents, 1))
        parts.append(frame("documents", listing, lasting=True))
    is_whole = SECTION not in thought.metadata
    if thought.text:
        parts += original_of(thought) if is_whole else ()
        parts += section_note(thought, _SECTION)
        parts.append(frame("text", thought.text))
    parts += rules_of(thought, failed=False) if is_whole else ()
    if thought.lessons:
        parts.append(frame("lessons of earlier attempts", "\n".join(thought.lessons)))
    if thought.text:
        feedback = list(feedback_lines(thought))
        if feedback:
            parts.append(frame("feedback", "\n".join(feedback)))
        wanted = _REVISE if feedback else _IMPROVE if thought.prompt else _IMPROVE_FREELY
        if is_whole and TURNED_DOWN in thought.metadata:
            refusal = cast("Mapping[str, str]", thought.metadata[TURNED_DOWN])
            parts += (frame("turned down", refusal["text"]), frame("reasons", refusal["reasons"]))
            wanted = _TURNED_DOWN
        parts.append(EDIT if by_edits and is_revised_by_edits(thought) else f"{wanted} {_ALONE}")
    parts += cast("Sequence[str]", thought.metadata.get(DRAFT, ()))
    if refused := thought.metadata.get(_REFUSED_ANSWER):
        answer, reason = cast("tuple[str, str]", refused)
        parts.append(frame("your last answer", MARK.sub("", answer)[:_SHOWN]))
        parts.append(_AGAIN.format(reason=reason))
    return "\n\n".join(parts)


def feedback_lines(thought: Thought) -> Iterator[str]:
    """One line for each thing to change, the failed validators first.

    Critics that abstained contribute nothing: their errors are none of the writer's business.
    """
    for result in thought.validation_results.values():
        if not result.passed:
            yield (
                f"- {result.validator} {'must' if result.required else 'should'} pass: "
                f"{result.message}"
            )
            yield from (f"  - {suggestion}" for suggestion in result.suggestions)
            yield from (f"  - {_describe_issue(issue)}" for issue in result.issues[:MOST_ISSUES])
    reviews = [feedback for feedback in thought.critic_feedback if feedback.status == "ok"]
    issues = cluster([feedback.issues for feedback in reviews])
    yield from (f"- {_describe_issue(issue)}" for issue in issues[:MOST_ISSUES])
    suggestions = dict.fromkeys(line for feedback in reviews for line in feedback.suggestions)
    yield from (f"- {suggestion}" for suggestion in suggestions)


def _describe_issue(issue: Issue) -> str:
    quote = f"{issue.quote[:120]!r}: " if issue.quote else ""
    fix = f" (write {issue.fix[:120]!r})" if issue.fix else ""
    return f"{quote}{issue.message}{fix}"


class UnfitDraft(ModelProviderError):
    """A writer's answer holds what is not of the text, and the text cannot be made out in it."""

    def __init__(self, writer: str, generation: Generation, reason: str) -> None:
        super().__init__(
            f"{writer}: the answer was refused: {reason}",
            "try again or choose another model",
            provider=writer.partition(":")[0],
            error_code="unfit",
        )
        self.generation = generation
        self.reason = reason

    @property
    def refused(self) -> Generation:
        """The answer as a version that is rejected."""
        return _add_metadata(self.generation, REFUSED, self.reason)


async def generate_version(writer: Model, thought: Thought) -> Generation:
    """The next version, without what is not of the text.

    A writer whose answer is refused is shown it, and asked once more.

    Raises:
        UnfitDraft: The text in the answer cannot be made out, nor that in the second one.
        ModelProviderError: As for `Model.generate_with_thought`.
        BudgetExceeded: As for `Model.generate_with_thought`.
    """
    try:
        return await _write_once(writer, thought)
    except UnfitDraft as error:
        refused = error
    answer, spent = refused.generation.text, refused.generation.usage
    again = thought.with_metadata({_REFUSED_ANSWER: (answer, refused.reason)})
    try:
        return _add_usage(await _write_once(writer, again, answer), spent)
    except UnfitDraft as error:
        error.generation = _add_usage(error.generation, spent)
        raise
    except (ModelProviderError, BudgetExceeded):
        raise refused from None


async def _write_once(writer: Model, thought: Thought, refused: str = "") -> Generation:
    generation = await generate(writer, thought)
    if not current_calls().mends:
        return generation
    if is_revised_by_edits(thought):
        try:
            revision = revised(thought, generation.text)
        except ConfigurationError as error:
            raise UnfitDraft(writer.name, generation, error.message) from error
        if revision is not None:
            metadata = {**generation.metadata, **revision.metadata}
            return generation.model_copy(update={"text": revision.text, "metadata": metadata})
    source = Source(
        text=thought.text,
        task=thought.prompt,
        prompt=generation.prompt_used or "",
        instructions=PROMPT.text if generation.prompt_used else "",
        material="\n".join(f"{d.title}\n{d.text}" for d in thought.pre_generation_context),
        shown=refused,
    )
    try:
        draft = await to_thread.run_sync(draft_of, generation.text, source)
    except Unfit as error:
        raise UnfitDraft(writer.name, generation, str(error)) from error
    text = draft.text
    if thought.text.endswith("\n") and not text.endswith("\n"):
        text += "\n"  # nobody has asked for a change of that
    changed = generation.model_copy(update={"text": text})
    return _add_metadata(changed, MENDED, draft.mended) if draft.mended else changed


def _add_usage(generation: Generation, spent: Usage) -> Generation:
    """The version with the usage of the answer before it."""
    return generation.model_copy(update={"usage": spent + generation.usage})


Attempt = Generation | ModelProviderError | BudgetExceeded
"""A version, or the failure for which there is none."""


async def attempt(
    writer: Model,
    thought: Thought,
    write: Callable[[Model, Thought], Awaitable[Generation]] = generate_version,
) -> Attempt:
    """The next version by `write`, or why there is none; what was not metered is charged.

    A writer, or a tool of an agent, is code of others: the run goes on with what it has when one
    raises what it should not, and the log has the traceback.
    """
    ledger = current_calls().ledger
    try:
        generation = await write(writer, thought)
    except (ModelProviderError, BudgetExceeded) as error:
        if isinstance(error, UnfitDraft) and not error.generation.metered:
            ledger.charge(error.generation.usage)
        return error  # others that write at the same time go on: they are paid for
    except SifakaError:
        raise
    except Exception as error:  # noqa: BLE001 - the code of others may raise anything
        report_failure(logger, f"model:{writer.name}", error, source=writer, run_id=thought.run_id)
        return ModelProviderError(
            f"{writer.name}: broke off with {type(error).__name__}",
            "see the log for its traceback",
            error_code="broken",
        )
    if not generation.metered:
        ledger.charge(generation.usage)
    try:
        check_text(generation.text, "the answer")
    except ConfigurationError as error:
        return ModelProviderError(
            f"{writer.name}: {error.message}", "choose another model", error_code="malformed"
        )
    return generation


def _add_metadata(generation: Generation, key: str, value: object) -> Generation:
    metadata = MappingProxyType({**generation.metadata, key: value})
    return generation.model_copy(update={"metadata": metadata})


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


def is_revised_by_edits(thought: Thought) -> bool:
    """True when all that is to change has its place in the text, so that edits can say it."""
    if SECTION in thought.metadata or TURNED_DOWN in thought.metadata:
        return False
    failed = (each for each in thought.validation_results.values() if not each.passed)
    issues = issues_of(thought)
    is_local = all(each.anchored for each in issues) and all(each.issues for each in failed)
    is_ours = '"edits"' in thought.text  # an answer that is such a text could be taken for edits
    return bool(issues) and is_local and not is_ours and len(thought.text) >= _SHORTEST


def revised(thought: Thought, answer: str) -> Generation | None:
    """The version that the edits in an answer lead to; None where it is no edits.

    Raises:
        ConfigurationError: The edits do not fit the text.
    """
    fields = object_of(answer)
    if fields is None and (begins := _EDITS.search(answer)):
        fields = object_of(answer[begins.start() : answer.rfind("}") + 1])
        if fields is None:
            raise ConfigurationError("the edits cannot be read")
    if fields is None or "edits" not in fields:
        return None
    try:
        edits = _Edits.model_validate(fields).edits
    except ValidationError as error:
        raise ConfigurationError("the edits are not in the form that was asked for") from error
    return _apply_edits(
        thought.text,
        [Edit(find=e.find, replace=e.replace, reason=e.why.strip() or None) for e in edits],
    )


def fixed(thought: Thought) -> Generation | None:
    """The version with the fixes of a text's review; None where more is to be done than they do.

    Each stands in the place of words that occur once in the text.
    """
    reviews = [each for each in thought.critic_feedback if each.status == "ok"]
    issues = [issue for each in reviews for issue in each.issues]
    is_all = all(each.judges_task and not each.suggestions for each in reviews)
    is_fixed = bool(issues) and all(issue.fix is not None for issue in issues)
    if not (thought.passed and is_all and is_fixed) or TURNED_DOWN in thought.metadata:
        return None
    try:
        return _apply_edits(thought.text, [_make_edit(thought.text, issue) for issue in issues])
    except ConfigurationError:
        return None


def _make_edit(text: str, issue: Issue) -> Edit:
    start, end = issue.start or 0, issue.end or 0
    if not issue.fix and text.endswith("\n\n", 0, start) and text.startswith("\n\n", end):
        end += 2  # a paragraph goes with the blank line below it
    return Edit(find=text[start:end], replace=issue.fix or "", reason=issue.message)


def _apply_edits(text: str, edits: Sequence[Edit]) -> Generation:
    """The version that edits lead to, with those that have a reason in its metadata."""
    changes = [
        {"start": text.find(each.find), "before": each.find, "message": each.reason}
        for each in edits
        if each.reason
    ]
    return Generation(text=edited(text, edits), metadata={CHANGES: changes})
