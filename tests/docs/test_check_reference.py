"""docs/check.md, compared with what the command knows."""

import json
import tomllib

from sifaka.editor import GROUPS
from sifaka.tasks.check import Diagnostic
from sifaka_mcp.cli.check.jobs import FileReport
from sifaka_mcp.cli.check.reports import as_json
from sifaka_mcp.settings.project_rules import CheckTable
from tests.docs.markdown import blocks, code, section, table

PAGE = "docs/check.md"


def test_every_rule_is_told_in_its_group() -> None:
    rows = table(section(PAGE, "Rules"))
    told = {code(row[0])[0]: code(row[1]) for row in rows}
    assert told.pop("grammar")[0] == "harper"
    assert told == {
        group: list(rules) for group, (rules, _) in GROUPS.items() if group != "grammar"
    }


def test_every_key_of_the_configuration_is_told() -> None:
    rows = table(section(PAGE, "Configuration"))
    known = [info.alias or name for name, info in CheckTable.model_fields.items()]
    assert [code(row[0])[0] for row in rows] == known


def test_the_configuration_that_is_shown_is_right() -> None:
    (block,) = blocks(PAGE, "toml")
    CheckTable.model_validate(tomllib.loads(block.content)["tool"]["sifaka"]["check"])


def test_every_key_of_the_json_report_is_told() -> None:
    found = Diagnostic(
        rule="x", message="", category="", severity=1, start=0, end=0, line=1, column=1,
        end_line=1, end_column=1, quote="", fix="y", safe=True, fingerprint="",
    )  # fmt: skip
    report = json.loads("".join(as_json([FileReport(path="a", diagnostics=(found,))])))
    told = {code(row[0])[0]: set(code(row[1])) for row in table(section(PAGE, "Reports"))}
    assert list(told) == list(report)
    assert told["diagnostics"] - {"text", "safe"} == set(report["diagnostics"][0])
    assert told["summary"] == set(report["summary"])
