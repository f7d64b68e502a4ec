"""The prompt of the writing model: the task, the best version so far, this round's feedback."""

from collections.abc import Iterator

from sifaka.models.framing import DATA_NOTICE, frame
from sifaka.models.section_note import section_note
from sifaka.record.clustering import cluster
from sifaka.record.results import Issue
from sifaka.record.thought import Document, Thought

MOST_ISSUES = 40
"""The most issues in a prompt."""

WRITER_INSTRUCTIONS = (
    "You write and revise texts. Answer with the complete text and nothing else: no preface, no "
    "comment, no code fence around it. When you revise, change what the feedback asks for and keep "
    f"everything else as it is. {DATA_NOTICE}"
)
_SECTION = (
    "Write this section alone, its heading included; the others are written by themselves. Use the "
    "terms that other sections have too as they stand, unless the task is to change them. Limits "
    "and numbers in the feedback that are about the whole document are not meant for this section "
    "alone."
)


def writing_prompt(thought: Thought) -> str:
    """The prompt for the version after `thought`, or for the first one when it has no text."""
    parts = [f"Task: {thought.prompt}"] if thought.prompt else []
    parts += [_documents(thought.pre_generation_context)] if thought.pre_generation_context else []
    if thought.lessons:
        parts.append(frame("lessons of earlier attempts", "\n".join(thought.lessons)))
    if not thought.text:
        return "\n\n".join(parts)
    parts += section_note(thought, _SECTION)
    parts.append(frame("text", thought.text))
    feedback = list(feedback_lines(thought))
    if feedback:
        parts.append(frame("feedback", "\n".join(feedback)))
        parts.append("Write the text again so that every point of the feedback is met.")
    else:
        parts.append("Improve the text.")
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
    return frame("documents", listing)
