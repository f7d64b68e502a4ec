"""Markdown: what is surely broken fails, what is only styled differently is advice."""

from sifaka.record.results import ValidationResult
from sifaka.text.markdown import read_markdown
from sifaka.validators.format.markdown_blocks import block_issues
from sifaka.validators.format.markdown_links import link_issues
from sifaka.validators.spec import ISSUE_LIMIT

BROKEN = 3
"""From this severity on an issue fails the text."""


def check_markdown(text: str) -> ValidationResult:
    """Check that the text means what its author must have meant.

    Every text is Markdown to a parser, so this looks for marks that did not become what they look
    like: unclosed fences, headings and lists without a space, skipped heading levels, ragged
    tables, broken links and undefined references.
    """
    source = read_markdown(text)
    issues = sorted([*block_issues(source), *link_issues(source)], key=lambda each: each.start or 0)
    broken = [issue for issue in issues if issue.severity >= BROKEN]
    advice = [issue for issue in issues if issue.severity < BROKEN]
    shown = (*broken, *advice)[:ISSUE_LIMIT]
    if not broken:
        return ValidationResult(passed=True, message="well-formed Markdown", issues=shown)
    count = "1 place is" if len(broken) == 1 else f"{len(broken)} places are"
    return ValidationResult(
        passed=False,
        message=f"{count} broken Markdown: {broken[0].message}",
        score=1 / (1 + len(broken)),
        issues=shown,
        suggestions=tuple(dict.fromkeys(issue.message for issue in broken[:5])),
    )
