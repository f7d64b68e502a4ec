"""Findings as SARIF 2.1.0, which code hosts and editors read."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from sifaka.tasks.check import Diagnostic
from sifaka_mcp.cli.check.work import FileReport

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS: Mapping[int, str] = {1: "note", 2: "warning", 3: "warning", 4: "error", 5: "error"}


def as_sarif(reports: Sequence[FileReport]) -> Iterator[str]:
    """One log with one run. What could not be checked is a notification of its invocation."""
    found = [(report.path, each) for report in reports for each in report.diagnostics]
    rules = sorted({each.rule for _, each in found})
    numbers = {rule: number for number, rule in enumerate(rules)}
    categories = {each.rule: each.category for _, each in found}
    driver = {
        "name": "sifaka",
        "version": version("sifaka-mcp"),
        "rules": [
            {
                "id": rule,
                "shortDescription": {"text": f"{categories[rule]}: {rule}"},
                "properties": {"category": categories[rule]},
            }
            for rule in rules
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(reports)],
        "results": [_result(path, each, numbers[each.rule]) for path, each in found],
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(path: str, found: Diagnostic, number: int) -> Mapping[str, Any]:
    region = {
        "startLine": found.line,
        "startColumn": found.column,
        "endLine": found.end_line,
        "endColumn": found.end_column,
    }
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": number,
        "level": _LEVELS[found.severity],
        "message": {"text": found.message},
        "locations": [
            {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}
        ],
    }
    if found.fix is not None:
        replacement = {"deletedRegion": region, "insertedContent": {"text": found.fix}}
        certain = "certain" if found.safe else "suggested"
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
    told = [("error", report.path, report.problem) for report in reports if report.problem]
    told += [("error", report.path, line) for report in reports for line in report.degraded]
    told += [("note", report.path, note) for report in reports for note in report.notes]
    notifications = [
        {
            "level": level,
            "message": {"text": message},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(path)}}],
        }
        for level, path, message in told
    ]
    return {
        "executionSuccessful": not any(report.failed for report in reports),
        "toolExecutionNotifications": notifications,
    }


def _artifact(path: str) -> Mapping[str, str]:
    """A URI: relative as the path is; an absolute path is a `file:` URI."""
    return {"uri": f"{'file://' if path.startswith('/') else ''}{quote(os.fsencode(path))}"}
