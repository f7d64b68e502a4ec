"""What is said about a wrong call: one line, and exit code 2. In this process, for speed."""

from pathlib import Path
from typing import get_args

import pytest

from sifaka.validators.format import Syntax
from sifaka_mcp.cli import run
from tests.stubs.commands import Sifaka

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
SETTINGS = [
    ("SIFAKA_STORE", "foo"),
    ("SIFAKA_JUDGE_MODEL", "foo"),
    ("SIFAKA_TOOLSETS", "refine,cooking"),
    ("SIFAKA_TENANT", "a/b"),
]


@pytest.mark.parametrize(
    ("command", "name", "value"),
    [
        *((command, "SIFAKA_MODEL", "foo") for command in COMMANDS),
        *((COMMANDS[1], *setting) for setting in SETTINGS),
    ],
)
def test_every_command_checks_the_settings_first(
    sifaka: Sifaka, command: list[str], name: str, value: str
) -> None:
    said = sifaka.refuses(*command, **{name: value})
    assert said.startswith(f"sifaka: {name}")
    assert said.count(f"'{value.split(',')[-1]}'") == 1


def test_a_wrong_value_in_the_users_own_file_is_named(sifaka: Sifaka, config: Path) -> None:
    config.mkdir()
    (config / "config.toml").write_text('log_level = "LOUD"\n')
    said = sifaka.refuses("history")
    assert "config.toml: log_level='LOUD'" in said
    assert "DEBUG" in said


def test_a_variable_that_is_no_setting_is_named_and_stops_nothing(sifaka: Sifaka) -> None:
    done = sifaka("history", SIFAKA_MODLE="foo")
    told = "sifaka: SIFAKA_MODLE is no setting; did you mean SIFAKA_MODEL?\n"
    assert (done.code, done.err) == (0, told)


def test_help_is_a_command_too(sifaka: Sifaka) -> None:
    assert "usage: sifaka " in sifaka.prints("help")
    assert "usage: sifaka improve " in sifaka.prints("help", "improve")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["improve", "missing.md"], "missing.md"),
        (["improve", "."], "."),
        (["improve", "-", "--in-place"], "--in-place"),
        (["improve", "text.md", "--max-words", "3", "--min-words", "9"], "min_words"),
        (["improve", "text.md", "--model", "gpt-5"], "gpt-5"),
        (["improve", "text.md", "--model", "edtor"], "; did you mean 'editor'?"),
        (["improve", "text.md", "--out", "no/such/folder/x"], "no/such/folder/x"),
        (["improve", "text.md", "--out", "home"], "home: is a folder"),
        (["improve", "text.md", "--json", "--out", "-"], "--json and --out - want the same"),
        (["improve", "text.md", "--critics", " , nobody"], "'nobody'"),
        (["improve", "text.md", "--max-calls", "-1"], "budget.max_calls: should be at least 0"),
        (["improve", "text.md", "--max-tokens", "1.5"], "invalid int value: '1.5'"),
        (["improve", "text.md", "--max-cost-usd", "x"], "invalid float value: 'x'"),
        (["imporve", "text.md"], "; did you mean improve? — see `sifaka --help`"),
        (["help", "imporve"], "did you mean improve?"),
        (["improve", "text.md", "--max-wrods", "5"], "; did you mean --max-words? — see"),
        (["improve", "text.md", "--max-wrods=5"], "see `sifaka improve --help`"),
        (["improve", "text.md", "--max-word", "3"], "did you mean --max-words?"),
        (["improve", "text.md", "--effort", "quik"], "; did you mean quick? — see"),
        (["validate", "text.md"], "no rules"),
        (["validate", "text.md", "--spec", "text.md"], "text.md"),
        (["validate", "text.md", "--xyzzy"], "unrecognized arguments: --xyzzy — see"),
        (["serve", "--transport", "http", "--port", "99999"], "from 0 to 65535"),
        (["serve", "--port", "http"], "from 0 to 65535"),
        (["serve", "--store", "foo"], "--store: no store can be opened by 'foo'"),
        (["serve", "--toolsets", "refin"], "did you mean 'refine'? known: refine, recall"),
        (["history", "--limit", "0"], "from 1 to 100"),
        (["search", "goods", "--limit", "101"], "from 1 to 100"),
        (["search", "  "], "nothing to search for"),
        (["history", "run_x"], "the history lists the runs"),
        (["resume", "run_x"], "the history lists the runs"),
    ],
)
def test_a_wrong_argument_is_one_line(sifaka: Sifaka, arguments: list[str], said: str) -> None:
    Path("home").mkdir()
    told = sifaka.refuses(*arguments)
    assert said in told
    assert "get_thought_history" not in told


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
def test_a_wrong_spec_is_one_line(sifaka: Sifaka, here: Path, spec: str, said: str) -> None:
    (here / "rules.yaml").write_text(spec)
    told = sifaka.refuses("validate", "text.md", "--spec", "rules.yaml")
    assert told.startswith("sifaka: rules.yaml: ")
    assert said in told


@pytest.mark.parametrize("command", [["improve", "-"], ["serve"]])
@pytest.mark.usefixtures("here")
def test_a_closed_standard_input_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert run(command) == 2
    assert capsys.readouterr().err.startswith("sifaka: standard input is closed")


@pytest.mark.parametrize("number", [1, 5, 6, 7])
def test_a_store_that_cannot_be_opened_is_wrong_usage(
    sifaka: Sifaka, here: Path, number: int
) -> None:
    done = sifaka(*COMMANDS[number], SIFAKA_HOME=str(here / "text.md" / "home"))
    assert done.code == 2
    assert "text.md" in done.err


def test_the_formats_that_are_checked_are_those_of_the_validator(sifaka: Sifaka) -> None:
    said = sifaka.refuses("validate", "text.md", "--format", "ini")
    assert ", ".join(map(repr, get_args(Syntax))) in said
