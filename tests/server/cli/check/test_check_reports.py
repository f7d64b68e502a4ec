"""The forms of a report: JSON, SARIF and the commands of GitHub."""

import json
import os
import re
from pathlib import Path
from typing import Any

from jsonschema.validators import Draft202012Validator, validator_for

from sifaka.tasks.check import Diagnostic
from sifaka_mcp.cli.check.jobs import FileReport
from sifaka_mcp.cli.check.reports import as_github
from tests.server.cli.check.conftest import Check
from tests.server.cli.check.sarif_subset import SUBSET


def diagnostic(**more: Any) -> Diagnostic:
    fields: dict[str, Any] = {
        "rule": "repeated_word", "message": "wrong", "category": "grammar", "severity": 2,
        "start": 0, "end": 3, "line": 1, "column": 1, "end_line": 1, "end_column": 4,
        "quote": "the", "fix": None, "safe": False, "fingerprint": "",
    }  # fmt: skip
    return Diagnostic(**{**fields, **more})


def test_json_has_the_keys_that_are_told(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text("It is new.\nWe recieve it.\n")
    (texts / "b.md").write_bytes(b"\x00\x01")
    done = check("a.md", "b.md", "--format", "json")
    assert done.code == 2
    told = json.loads(done.out)
    assert re.fullmatch("[0-9a-f]{16}", told["diagnostics"][0].pop("fingerprint"))
    assert told == {
        "diagnostics": [
            {
                "path": "a.md",
                "rule": "misspelling",
                "message": '"recieve" should be "receive"',
                "category": "spelling",
                "severity": 2,
                "start": 14,
                "end": 21,
                "line": 2,
                "column": 4,
                "end_line": 2,
                "end_column": 11,
                "quote": "recieve",
                "fix": {"text": "receive", "safe": True},
            }
        ],
        "problems": [{"path": "b.md", "message": "is binary"}],
        "notes": [],
        "degraded": [],
        "summary": {"files": 1, "found": 1, "fixed": 0},
    }


def test_the_commands_of_github_are_escaped() -> None:
    found = diagnostic(message="100% wrong:\r\nfix, it", rule="a,b:c")
    report = FileReport(path="docs/a,b:c%.md", diagnostics=(found,))
    assert list(as_github([report])) == [
        "::error file=docs/a%2Cb%3Ac%25.md,line=1,endLine=1,col=1,endColumn=4,"
        "title=sifaka (a%2Cb%3Ac)::100%25 wrong:%0D%0Afix, it"
    ]


def test_a_finding_over_several_lines_has_no_columns_for_github() -> None:
    report = FileReport(path="a.md", diagnostics=(diagnostic(end_line=2),))
    assert list(as_github([report])) == [
        "::error file=a.md,line=1,endLine=2,title=sifaka (repeated_word)::wrong"
    ]


def test_sarif_names_the_place_the_rule_and_the_fix(texts: Path, check: Check) -> None:
    (texts / "a b%.md").write_text("😀 We recieve it.\n")
    (texts / "c.md").write_bytes(b"\xff")
    done = check(".", "--format", "sarif")
    assert done.code == 2
    log = json.loads(done.out)
    run = log["runs"][0]
    assert (log["version"], run["columnKind"]) == ("2.1.0", "unicodeCodePoints")
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "misspelling"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b%25.md"}
    region = {"startLine": 1, "startColumn": 6, "endLine": 1, "endColumn": 13}
    assert place["region"] == region
    change = result["fixes"][0]["artifactChanges"][0]["replacements"][0]
    assert change == {"deletedRegion": region, "insertedContent": {"text": "receive"}}
    invocation = run["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert "UTF-8" in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_a_report_without_findings_is_whole(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text("We receive it.\n")
    assert json.loads(check(".", "--format", "sarif").out)["runs"][0]["results"] == []
    assert json.loads(check(".", "--format", "json").out)["diagnostics"] == []
    assert check(".", "--format", "github").out == ""


def test_sarif_meets_its_schema(texts: Path, check: Check) -> None:
    """CONTRIBUTING.md says where the whole schema is from; a part of it is always compared."""
    schemas = [SUBSET]
    if "SARIF_SCHEMA" in os.environ:
        schemas.append(json.loads(Path(os.environ["SARIF_SCHEMA"]).read_text(encoding="utf-8")))
    (texts / "a b%.md").write_text("😀 We recieve it.\n\nSee a  apple, basically, go.\n")
    (texts / "c.md").write_bytes(b"\xff")
    for arguments in (
        (".",),
        (str(texts),),
        ("--no-config", "c.md"),
        (".", "--select", "spacing"),
    ):
        log = json.loads(check(*arguments, "--format", "sarif").out)
        for schema in schemas:
            validator: Any = validator_for(schema, Draft202012Validator)(schema)
            assert [error.message for error in validator.iter_errors(log)] == []
