"""The forms in which findings are printed."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from sifaka_mcp.cli.check.work import FileReport
from sifaka_mcp.view.lines import flat

Report = Callable[[Sequence[FileReport]], Iterable[str]]
"""Makes the lines of a report."""


def as_lines(reports: Iterable[FileReport]) -> Iterator[str]:
    """`path:line:column: rule message`, and whether there is a fix."""
    for report in reports:
        for found in report.diagnostics:
            fix = "" if found.fix is None else (" [fix]" if found.safe else " [suggestion]")
            place = f"{flat(report.path)}:{found.line}:{found.column}"
            yield f"{place}: {found.rule} {flat(found.message)}{fix}"


def summary(reports: Sequence[FileReport]) -> str:
    """One sentence: how much was found, fixed and can be fixed; empty when there is nothing."""
    found = [each for report in reports for each in report.diagnostics]
    fixed = sum(report.fixed for report in reports)
    safe = sum(each.fix is not None and each.safe for each in found)
    suggested = sum(each.fix is not None and not each.safe for each in found)
    parts = [f"{fixed} fixed" if fixed else "", f"{len(found)} found" if found else ""]
    offers = [
        f"--fix mends {safe}" if safe else "",
        f"--fix --suggestions also mends up to {suggested}" if suggested else "",
    ]
    told = ", ".join(filter(None, parts))
    return told and "; ".join(filter(None, [told, *offers]))
