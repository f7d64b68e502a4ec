"""The forms in which findings are printed."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import metadata, version
from typing import Any
from urllib.parse import quote

from sifaka.editor.rules import HARPER
from sifaka.tasks.check import Diagnostic
from sifaka_mcp.cli.check.jobs import FileReport
from sifaka_mcp.safe_text import flat, one_line, visible

Report = Callable[[Sequence[FileReport]], Iterable[str]]
"""Makes the lines of a report."""
SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
RULES = "rules.md"
"""The page of the documents that explains the rules, each under an anchor of its name."""
_LEVELS: Mapping[int, str] = {1: "note", 2: "warning", 3: "warning", 4: "error", 5: "error"}


def as_lines(reports: Iterable[FileReport]) -> Iterator[str]:
    """`path:line:column: rule message`, and whether there is a fix."""
    for report in reports:
        for finding in report.diagnostics:
            fix = "" if finding.fix is None else (" [fix]" if finding.safe else " [suggestion]")
            # At the beginning of a line a runner of workflows takes colons for a command.
            name = f"{'./' * report.path.lstrip().startswith(':')}{flat(report.path)}"
            text = f"{finding.rule} {flat(finding.message)}{fix}"
            yield one_line(f"{name}:{finding.line}:{finding.column}: {text}")


def summary(reports: Sequence[FileReport], *, written: bool) -> str:
    """One sentence: how much was found, fixed and can be fixed; empty when there is nothing.

    Args:
        reports: The reports.
        written: False when the fixes are only shown.
    """
    findings = [each for report in reports for each in report.diagnostics]
    fixed = sum(report.fixed for report in reports)
    safe = sum(each.fix is not None and each.safe for each in findings)
    suggested = sum(each.fix is not None and not each.safe for each in findings)
    done = f"{fixed} fixed" if written else f"{fixed} would be fixed"
    parts = [done if fixed else "", f"{len(findings)} found" if findings else ""]
    offers = [
        ", ".join(filter(None, parts)),
        f"--fix mends {safe}" if safe else "",
        f"--fix --suggestions also mends up to {suggested}" if suggested else "",
    ]
    return "; ".join(filter(None, offers))


def as_json(reports: Sequence[FileReport]) -> Iterator[str]:
    """One JSON object; its keys are described in docs/check.md."""
    findings = [
        {"path": report.path, **_to_json(each)} for report in reports for each in report.diagnostics
    ]
    data = {
        "diagnostics": findings,
        "problems": [{"path": r.path, "message": r.problem} for r in reports if r.problem],
        "notes": [{"path": r.path, "message": note} for r in reports for note in r.notes],
        "degraded": sorted({line for report in reports for line in report.degraded}),
        "summary": {
            "files": sum(report.problem is None for report in reports),
            "found": len(findings),
            "fixed": sum(report.fixed for report in reports),
        },
    }
    yield json.dumps(data, indent=2, ensure_ascii=False)


def as_github(reports: Iterable[FileReport]) -> Iterator[str]:
    """Workflow commands, which GitHub shows beside the lines of a change."""
    for report in reports:
        for finding in report.diagnostics:
            fields = {"file": report.path, "line": finding.line, "endLine": finding.end_line}
            if finding.line == finding.end_line:  # elsewhere GitHub drops columns
                fields |= {"col": finding.column, "endColumn": finding.end_column}
            fields["title"] = f"sifaka ({finding.rule})"
            parameters = ",".join(
                f"{key}={_escape(str(value)).replace(':', '%3A').replace(',', '%2C')}"
                for key, value in fields.items()
            )
            yield visible(f"::error {parameters}::{_escape(finding.message)}")


def _to_json(finding: Diagnostic) -> Mapping[str, Any]:
    fix = None if finding.fix is None else {"text": finding.fix, "safe": finding.safe}
    return {**{k: v for k, v in asdict(finding).items() if k not in {"fix", "safe"}}, "fix": fix}


def _escape(message: str) -> str:
    return message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def as_sarif(reports: Sequence[FileReport]) -> Iterator[str]:
    """One log with one run. What could not be checked is a notification of its invocation."""
    findings = [(report.path, each) for report in reports for each in report.diagnostics]
    rules = dict(sorted({each.rule: each.category for _, each in findings}.items()))
    numbers = {rule: number for number, rule in enumerate(rules)}
    driver = {
        "name": "sifaka",
        "version": version("sifaka-mcp"),
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": f"{category}: {rule}"},
                "helpUri": help_uri(rule),
                "properties": {"category": category},
            }
            for rule, category in rules.items()
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(reports)],
        "results": [_result(path, each, numbers[each.rule]) for path, each in findings],
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def help_uri(rule: str) -> str:
    """The address of what the documents say of a rule."""
    anchor = HARPER if rule.startswith(f"{HARPER}.") else rule
    return f"{_documents_url()}/{RULES}#{anchor}"


@cache
def _documents_url() -> str:
    links = (line.partition(", ") for line in metadata("sifaka-mcp").get_all("Project-URL", ()))
    return next(url for label, _, url in links if label == "Documentation")


def _result(path: str, finding: Diagnostic, number: int) -> Mapping[str, Any]:
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": number,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "partialFingerprints": {"sifaka/v1": finding.fingerprint},
        "locations": [
            {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}
        ],
    }
    if finding.fix is not None:
        replacement = {"deletedRegion": region, "insertedContent": {"text": finding.fix}}
        certain = "certain" if finding.safe else "suggested"
        result["fixes"] = [
            {
                "description": {"text": f"The {certain} fix."},
                "artifactChanges": [
                    {"artifactLocation": _artifact(path), "replacements": [replacement]}
                ],
            }
        ]
    return result


def _invocation(reports: Sequence[FileReport]) -> Mapping[str, Any]:
    notices = [("error", report.path, report.problem) for report in reports if report.problem]
    notices += [("error", report.path, line) for report in reports for line in report.degraded]
    notices += [("note", report.path, note) for report in reports for note in report.notes]
    notifications = [
        {
            "level": level,
            "message": {"text": message},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(path)}}],
        }
        for level, path, message in notices
    ]
    return {
        "executionSuccessful": not any(report.failed for report in reports),
        "toolExecutionNotifications": notifications,
    }


def _artifact(path: str) -> Mapping[str, str]:
    """A URI: relative as the path is; an absolute path is a `file:` URI."""
    return {"uri": f"{'file://' if path.startswith('/') else ''}{quote(os.fsencode(path))}"}
