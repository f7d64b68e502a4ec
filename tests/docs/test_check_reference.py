"""docs/check.md, compared with what the command knows."""

import json
import tomllib
from pathlib import Path

from sifaka.editor import GROUPS
from sifaka.tasks.check import Diagnostic
from sifaka_mcp.cli.check.jobs import FileReport
from sifaka_mcp.cli.check.reports import RULES, as_json
from sifaka_mcp.settings.project_rules import CheckTable, rules_for
from tests.docs.markdown import blocks, code, section, table
from tests.snapshots import rules

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
    block = blocks(PAGE, "toml")[-1]
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


def test_the_page_on_rules_is_what_they_say_of_themselves() -> None:
    assert rules.PAGE.read_text(encoding="utf-8") == rules.rendered()
    assert rules.PAGE.name == RULES


def test_the_rules_that_are_shown_exist(tmp_path: Path) -> None:
    block = blocks(PAGE, "toml")[-1]
    file = tmp_path / "pyproject.toml"
    file.write_text(block.content)
    assert rules_for(tmp_path / "docs" / "archive" / "a.md") is not None
