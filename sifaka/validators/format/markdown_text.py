"""Markdown: what is surely broken fails, what is only styled differently is advice."""

from sifaka.record.results import Issue, ValidationResult
from sifaka.text.markdown import Markdown
from sifaka.validators.format.markdown_blocks import block_issues
from sifaka.validators.format.markdown_links import link_issues
from sifaka.validators.format.markdown_style import reformatted
from sifaka.validators.format.markdown_tables import table_issues
from sifaka.validators.spec import ISSUE_LIMIT

BROKEN = 3
"""From this severity on an issue fails the text."""


def check_markdown(text: str) -> ValidationResult:
    """Check that the text means what its author must have meant.

    Every text is Markdown to a parser, so this looks for marks that did not become what they look
    like: unclosed fences, headings and lists without a space, skipped heading levels, ragged
    tables, broken links and undefined references. A text that mdformat would lay out otherwise
    passes with that layout as advice, provided it renders to the same page.
    """
    issues = _structure(text)
    broken = [issue for issue in issues if issue.severity >= BROKEN]
    advice = [issue for issue in issues if issue.severity < BROKEN]
    # Not while something is broken: to lay out a row with too many cells drops the last of them.
    layout = None if broken else reformatted(text)
    if layout is not None:
        advice.append(
            Issue.at(
                text, 0, len(text), "mdformat lays this out differently", category="format",
                severity=1, rule="layout", fix=layout,
            )
        )  # fmt: skip
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


def _structure(text: str) -> list[Issue]:
    source = Markdown(text)
    issues = [*block_issues(source), *table_issues(source), *link_issues(source)]
    return sorted(issues, key=lambda issue: issue.start or 0)
