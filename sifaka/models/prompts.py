"""The prompt of the writer: the task, the best version so far, this round's feedback."""

from collections.abc import Iterator

from sifaka.models.framing import frame
from sifaka.models.prompt import Prompt
from sifaka.models.section_note import section_note
from sifaka.record.clustering import cluster
from sifaka.record.results import Issue
from sifaka.record.thought import Document, Thought

MOST_ISSUES = 40
"""The most issues in a prompt."""

PROMPT = Prompt(
    purpose="Writes the first version of a text, or the next version of it.",
    task="You write and revise texts for an author.",
    rules=(
        "Do what the task asks.",
        "When there is a text, revise it: change what the task and the feedback ask for, and keep "
        "the rest word for word.",
        "Keep facts, numbers, names, quotations, links, code, format and language, unless the task "
        "asks you to change them. Invent none.",
        "Answer with the complete text and nothing else: no preface, no comment, no marks, no code "
        "fence around it.",
    ),
    example="For example, the text `There plan has 3 steps.` with the feedback `'There': write "
    "'Their'` becomes `Their plan has 3 steps.`",
)
_SECTION = (
    "Write this section alone, with its heading. The other sections are written separately. Keep "
    "the terms that other sections use too, unless the task is to change them. Limits and numbers "
    "in the feedback that concern the whole document do not apply to this section alone."
)
_REVISE = "Write the complete text again so that it meets the task and every point of the feedback."
_IMPROVE = "Write the complete text again so that it meets the task."
_IMPROVE_FREELY = "Improve the text, and write all of it again."
_ALONE = "Answer with the text alone."


def writing_prompt(thought: Thought) -> str:
    """The prompt for the version after `thought`, or for the first one when it has no text.

    What all versions share comes first, so that providers can cache it.
    """
    parts = [f"Task: {thought.prompt}"] if thought.prompt else []
    parts += [_documents(thought.pre_generation_context)] if thought.pre_generation_context else []
    if thought.text:
        parts += section_note(thought, _SECTION)
        parts.append(frame("text", thought.text))
    if thought.lessons:
        parts.append(frame("lessons of earlier attempts", "\n".join(thought.lessons)))
    if not thought.text:
        return "\n\n".join(parts)
    feedback = list(feedback_lines(thought))
    if feedback:
        parts.append(frame("feedback", "\n".join(feedback)))
    wanted = _REVISE if feedback else _IMPROVE if thought.prompt else _IMPROVE_FREELY
    parts.append(f"{wanted} {_ALONE}")
    return "\n\n".join(parts)


def feedback_lines(thought: Thought) -> Iterator[str]:
    """One line for each thing to change, the failed validators first.

    Critics that abstained contribute nothing: their errors are none of the writer's business.
    """
    for result in thought.validation_results.values():
        if not result.passed:
            yield f"- {result.validator} must pass: {result.message}"
            yield from (f"  - {suggestion}" for suggestion in result.suggestions)
            yield from (f"  - {_issue(issue)}" for issue in result.issues[:MOST_ISSUES])
    heard = [feedback for feedback in thought.critic_feedback if feedback.status == "ok"]
    issues = cluster([feedback.issues for feedback in heard])
    yield from (f"- {_issue(issue)}" for issue in issues[:MOST_ISSUES])
    suggestions = dict.fromkeys(line for feedback in heard for line in feedback.suggestions)
    yield from (f"- {suggestion}" for suggestion in suggestions)


def _issue(issue: Issue) -> str:
    quote = f"{issue.quote[:120]!r}: " if issue.quote else ""
    fix = f" (write {issue.fix[:120]!r})" if issue.fix else ""
    return f"{quote}{issue.message}{fix}"


def _documents(documents: tuple[Document, ...]) -> str:
    listing = "\n\n".join(f"[{n}] {d.title}\n{d.text}" for n, d in enumerate(documents, 1))
    return frame("documents", listing, lasting=True)
