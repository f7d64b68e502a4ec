"""What is said about a wrong call: one line, and exit code 2. In this process, for speed."""

import json
import sys
from pathlib import Path

import pytest

from sifaka_mcp.cli import run
from sifaka_mcp.schemas.history import HistoryOut

COMMANDS = [
    ["serve"],
    ["improve", "text.md"],
    ["validate", "text.md", "--max-words", "9"],
    ["critique", "text.md"],
    ["verify", "text.md"],
    ["history"],
    ["search", "goods"],
    ["resume", "run_x"],
]


def code_of(arguments: list[str]) -> int:
    try:
        return run(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else -1


@pytest.mark.parametrize("name", ["SIFAKA_STORE", "SIFAKA_MODEL", "SIFAKA_JUDGE_MODEL"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_checks_the_settings_first(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    name: str,
) -> None:
    monkeypatch.setenv(name, "foo")
    assert run(command) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"sifaka: {name}")
    assert said.err.count("'foo'") == 1
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_doctor_tells_of_every_wrong_setting_and_goes_on(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("SIFAKA_STORE", "SIFAKA_MODEL", "SIFAKA_JUDGE_MODEL", "SIFAKA_MODLE"):
        monkeypatch.setenv(name, "foo")
    assert run(["doctor"]) == 2
    lines = capsys.readouterr().out.splitlines()
    wrong = [line for line in lines if line.startswith("FAIL  setting: ")]
    assert [line.split()[2].partition("=")[0].rstrip(":") for line in wrong] == [
        "SIFAKA_MODEL",
        "SIFAKA_JUDGE_MODEL",
        "SIFAKA_STORE",
        "SIFAKA_MODLE",
    ]
    assert wrong[-1].endswith("did you mean SIFAKA_MODEL?")
    assert any(line.startswith("ok    store: sqlite:") for line in lines)


def test_a_variable_that_is_no_setting_is_named_and_stops_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIFAKA_MODLE", "foo")
    assert run(["history"]) == 0
    told = "sifaka: SIFAKA_MODLE is no setting; did you mean SIFAKA_MODEL?\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["help"], 0, "usage: sifaka "),
        (["help", "improve"], 0, "usage: sifaka improve "),
        (["imporve", "text.md"], 2, "did you mean improve?"),
        (["improve", "text.md", "--max-word", "3"], 2, "did you mean --max-words?"),
        (["help", "imporve"], 2, "did you mean improve?"),
    ],
)
def test_help_is_a_command_and_no_slip_is_taken_in_silence(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    (here / "text.md").write_text("a b c d")
    assert code_of(arguments) == code
    told = capsys.readouterr()
    assert said in told.out + told.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serve", "--transport", "http", "--port", "99999"], "from 0 to 65535"),
        (["serve", "--port", "http"], "from 0 to 65535"),
        (["serve", "--store", "foo"], "--store: no store can be opened by 'foo'"),
        (["history", "--limit", "0"], "from 1 to 100"),
        (["history", "--limit", "101"], "from 1 to 100"),
        (["search", "goods", "--limit", "-1"], "from 1 to 100"),
        (["search", ""], "nothing to search for"),
        (["search", "  "], "nothing to search for"),
        (["history", "run_x"], "`sifaka history` lists the runs"),
        (["resume", "run_x"], "`sifaka history` lists the runs"),
        (["improve", "text.md", "--critics", " , nobody"], "'nobody'"),
        (["improve", "text.md", "--out", "home"], "home: is a folder"),
        (["improve", "text.md", "--json", "--out", "-"], "--json and --out - want the same"),
        (["improve", "text.md", "--max-calls", "-1"], "budget.max_calls: should be at least 0"),
        (["improve", "text.md", "--max-tokens", "1.5"], "'1.5' is not a whole number"),
        (["improve", "text.md", "--max-seconds", "0"], "budget.max_seconds: should be more than 0"),
        (["improve", "text.md", "--max-cost-usd", "x"], "'x' is not a number"),
        (["imporve", "text.md"], "; did you mean improve? — see `sifaka --help`"),
        (["improve", "text.md", "--max-wrods", "5"], "; did you mean --max-words? — see"),
        (["improve", "text.md", "--max-wrods=5"], "see `sifaka improve --help`"),
        (["improve", "text.md", "--effort", "quik"], "; did you mean quick? — see"),
        (["improve", "text.md", "--model", "edtor"], "; did you mean 'editor'?"),
        (["serve", "--toolsets", "refin"], "did you mean 'refine'? known: refine, recall"),
        (["validate", "text.md", "--xyzzy"], "unrecognized arguments: --xyzzy — see"),
    ],
)
def test_a_wrong_argument_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (here / "home").mkdir()
    assert code_of(arguments) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "get_thought_history" not in err
    assert err.startswith("sifaka: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("{validators: 5}", "validators: should be a list"),
        ("{validators: null}", "validators: should be a list"),
        ("{validators: [5]}", "validators[0]: should be an object"),
        ("{validators: &a [*a]}", "validators[0]: should be an object"),
        ("{critics: 5}", "critics: should be a list"),
        ("{critics: lint}", "critics: should be a list"),
        ("{critics: [5]}", "critics[0]: should be a string or an object"),
        ("{rules: []}", "rules: is not a known option"),
        ("[" * 5000, "nested too deeply"),
        ("a: 2001-99-99", "not of its YAML type"),
        ('!!int ""', "not of its YAML type"),
        ("!!timestamp x", "not of its YAML type"),
        ("5", "should be an object"),
    ],
)
def test_a_wrong_spec_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], spec: str, said: str
) -> None:
    (here / "rules.yaml").write_text(spec)
    assert run(["validate", "text.md", "--spec", "rules.yaml"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("sifaka: rules.yaml: ")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", [["improve", "-"], ["serve"]])
def test_a_closed_standard_input_is_said(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run(command) == 2
    assert capsys.readouterr().err.startswith("sifaka: standard input is closed")


@pytest.mark.parametrize(
    "command", [c for c in COMMANDS if c[0] in {"improve", "history", "search", "resume"}]
)
def test_a_store_that_cannot_be_opened_is_a_wrong_configuration(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    monkeypatch.setenv("SIFAKA_HOME", str(here / "text.md" / "home"))
    assert run(command) == 2
    assert "text.md" in capsys.readouterr().err


def test_history_gives_the_tools_structured_result_with_its_nulls(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["history", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == HistoryOut(runs=[]).model_dump(mode="json")


def test_critics_may_be_written_with_spaces_and_empty_parts(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["critique", "text.md", "--critics", "lint , ,", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [critique["critic"] for critique in found["critiques"]] == ["lint"]
