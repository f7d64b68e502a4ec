"""The commands as a person or a script calls them: a few as processes, most in this one."""

import json
import re
import shlex
import subprocess
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from sifaka.chain import RunResult
from sifaka.record.entries import (
    Decided,
    Decision,
    Drafted,
    Started,
    Stopped,
    StopReason,
    Validated,
)
from sifaka.record.results import ValidationResult
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka_mcp.cli import COMMANDS, parser_for
from sifaka_mcp.cli.session import Session
from sifaka_mcp.settings import Settings
from tests.stubs.commands import SIFAKA, Sifaka, own_environment, sifaka_process
from tests.stubs.static_models import needs_the_packaged_model, write_static_model

MISTAKES = "We recieve all of the the goods .\n"
MENDED = "We receive all of the goods.\n"


@pytest.mark.slow
def test_a_process_shows_the_changes_with_their_reasons_or_the_tools_result(here: Path) -> None:
    done = sifaka_process(here, "improve", "text.md", "--max-words", "9")
    assert (done.returncode, done.stderr) == (0, "")
    assert "'recieve' -> 'receive'" in done.stdout
    assert '"recieve" should be "receive"' in done.stdout
    assert MENDED in done.stdout
    assert "pass" in done.stdout
    assert "\x1b" not in done.stdout, "no colour in a pipe"
    result = json.loads(sifaka_process(here, "improve", "-", "--json", given=MISTAKES).stdout)
    assert (result["status"], result["text"]) == ("done", MENDED)
    failing = sifaka_process(here, "improve", "text.md", "--min-words", "99")
    assert failing.returncode == 1
    assert "needs_revision" in failing.stdout


def test_a_file_that_was_edited_meanwhile_stays(
    sifaka: Sifaka, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Session.begin

    async def edit_meanwhile(*arguments: Any) -> RunResult:
        result = await begin(*arguments)
        (here / "text.md").write_text("edited by a person")
        return result

    monkeypatch.setattr(Session, "begin", edit_meanwhile)
    done = sifaka("improve", "text.md", "--in-place")
    assert done.code == 1
    assert "text.md: was changed meanwhile; not written" in done.err
    assert MENDED in done.out
    assert (here / "text.md").read_text() == "edited by a person"


def test_improve_writes_in_place_or_to_another_file(sifaka: Sifaka, here: Path) -> None:
    sifaka.prints("improve", "text.md", "--out", "new.md")
    assert (here / "new.md").read_text() == MENDED
    assert (here / "text.md").read_text() == MISTAKES
    path = here / "text.md"
    path.write_bytes(b"We recieve it.\r\nAnd we keep it.\r\n")
    path.chmod(0o640)
    sifaka.prints("improve", "text.md", "--in-place")
    assert path.read_bytes() == b"We receive it.\r\nAnd we keep it.\r\n"
    assert path.stat().st_mode & 0o777 == 0o640
    assert not [each.name for each in here.iterdir() if each.name.startswith(".")]


def test_validate_says_by_its_exit_code_whether_rules_are_met(sifaka: Sifaka, here: Path) -> None:
    sifaka.prints("validate", "text.md", "--max-words", "9")
    rules = ("--max-words", "2", "--forbid", "goods=things")
    assert "FAIL" in sifaka.prints("validate", "text.md", *rules, code=1)
    (here / "rules.yaml").write_text("validators:\n  - {type: length, max_words: 2}\n")
    sifaka.prints("validate", "text.md", "--spec", "rules.yaml", code=1)


def test_data_is_left_alone_by_the_name_of_its_file_or_by_its_rule(
    sifaka: Sifaka, here: Path
) -> None:
    data = "# We recieve it.\nnote = 'all of the the goods'\n"
    (here / "data.toml").write_text(data)
    assert "data is not checked" in sifaka.prints("improve", "data.toml")
    (here / "data.txt").write_text(data)
    sifaka.prints("improve", "data.txt", "--format", "toml", "--in-place")
    assert (here / "data.txt").read_text() == data
    (here / "data.txt").write_text(f"```toml\n{data}```\n")
    assert "pass  format: valid TOML" in sifaka.prints(
        "improve", "data.txt", "--format", "toml", "--in-place"
    )
    assert (here / "data.txt").read_text() == data


def test_critique_reports_without_changing(sifaka: Sifaka, here: Path) -> None:
    assert "recieve" in sifaka.prints("critique", "text.md", code=1)
    assert (here / "text.md").read_text() == MISTAKES
    (here / "before.md").write_text("It costs 4 euros.")
    (here / "after.md").write_text("It costs 6 euros.")
    told = sifaka.prints("critique", "after.md", "--original", "before.md", code=1)
    assert "money '4 euros' -> '6 euros': open" in told
    sifaka.prints("critique", "after.md")
    # Spaces and empty parts in a list are nothing.
    found = sifaka.json("critique", "text.md", "--critics", "lint , ,", code=1)
    assert [critique["critic"] for critique in found["critiques"]] == ["lint"]


def test_history_search_and_resume_find_the_run(sifaka: Sifaka) -> None:
    run_id = sifaka.json("improve", "text.md")["run_id"]
    assert run_id in sifaka.prints("history")
    assert "version 1" in sifaka.prints("history", run_id)
    assert run_id in sifaka.prints("search", "goods")
    sifaka.prints("resume", run_id)


def test_flags_win_over_the_environment_over_files(
    sifaka: Sifaka, here: Path, config: Path
) -> None:
    config.mkdir()
    (config / "config.toml").write_text('store = "sqlite:///own.db"\n')
    sifaka("history")
    assert (here / "own.db").exists()
    (here / "sifaka.toml").write_text('store = "sqlite:///file.db"\n')
    sifaka.prints("trust", "--yes")
    sifaka("history")
    assert (here / "file.db").exists()
    sifaka("history", SIFAKA_STORE="sqlite:///environment.db")
    assert (here / "environment.db").exists()
    flag = ("--store", "sqlite:///flag.db")
    sifaka("history", *flag, SIFAKA_STORE="sqlite:///environment.db")
    assert (here / "flag.db").exists()


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error(here: Path) -> None:
    command = f"{' '.join(SIFAKA)} improve text.md | head -c 1 >/dev/null"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=here,
        env=own_environment(here),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_search_by_meaning_needs_no_server_to_have_run(sifaka: Sifaka, here: Path) -> None:
    model = f"model2vec:{write_static_model(here / 'tiny')}"
    (here / "alpha.md").write_text("alpha")
    sifaka("improve", "alpha.md", SIFAKA_EMBEDDING_MODEL=model)
    told = sifaka.json("search", "beta", SIFAKA_EMBEDDING_MODEL=model)
    assert (told["search"], [hit["snippet"] for hit in told["hits"]]) == ("hybrid", ["alpha"])
    assert sifaka.json("search", "beta", SIFAKA_EMBEDDING_MODEL="none")["hits"] == []


@needs_the_packaged_model
def test_with_the_extra_a_search_by_meaning_needs_no_setting(sifaka: Sifaka, here: Path) -> None:
    for name, text in {"lift": "The lift is broken.", "bread": "Bake the bread slowly."}.items():
        (here / f"{name}.md").write_text(text)
        sifaka("improve", f"{name}.md", SIFAKA_EMBEDDING_MODEL="none")
    query = "elevator out of order"
    assert sifaka.json("search", query, SIFAKA_EMBEDDING_MODEL="none")["hits"] == []
    told = sifaka.json("search", query)  # the runs are from before the model
    assert (told["search"], told["hits"][0]["snippet"]) == ("hybrid", "The lift is broken.")
    assert "embedding model: wordllama: 256 dimensions\n" in sifaka.prints("doctor")


def test_the_demonstration_mends_its_text_until_its_rules_are_met(sifaka: Sifaka) -> None:
    shown = sifaka.prints("demo")
    assert "'definately' -> 'definitely'" in shown
    assert "done (rules_met)" in shown
    assert "at most 330" in shown


RST = "Title\n=====\n\nWe recieve it.\n\n.. code-block:: python\n\n   from recieve import teh\n"


def test_the_format_of_a_document_follows_its_name_or_is_told(sifaka: Sifaka, here: Path) -> None:
    path, source = here / "text.rst", here / "main.c"
    path.write_text(RST)
    sifaka.prints("improve", "text.rst", "--in-place")
    assert path.read_text() == RST.replace("We recieve", "We receive")
    source.write_text("We recieve it on Monday.\n")
    for command in ("improve", "critique"):
        assert "--as text" in sifaka.refuses(command, "main.c")
    assert source.read_text() == "We recieve it on Monday.\n"
    sifaka.prints("improve", "main.c", "--as", "text", "--in-place")
    assert source.read_text() == "We receive it on Monday.\n"
    assert "did you mean 'markdown'" in sifaka.refuses("improve", "text.md", "--as", "markdwn")


def ended(reason: StopReason, *, passed: bool) -> RunResult:
    run = Run.start(Started(prompt=""))
    thought = Thought(run_id=run.run_id, prompt="write", text="One.")
    verdict = ValidationResult(validator="length", passed=passed, message="")
    for entry in (
        Drafted(thought=thought),
        Validated(thought_id=thought.id, results={"length": verdict}),
        Decided(thought_id=thought.id, decision=Decision(accepted=True, note="the first")),
        Stopped(status="done", stop_reason=reason),
    ):
        run = run.apply(entry)
    return RunResult(run=run)


@pytest.mark.parametrize("reason", ["passed", "stalled"])
def test_a_run_that_is_done_is_0_when_its_text_passes(reason: StopReason) -> None:
    session = Session(Namespace(json=True, store=None, tenant=None), Settings())
    assert session.finish(ended(reason, passed=True))() == 0
    assert session.finish(ended(reason, passed=False))() == 1


LETTER = "Your order 4471 costs 30 EUR. It comes on Friday. Please pay within 14 days.\n"


def test_a_run_that_waits_is_gone_on_with_by_the_commands_that_it_names(
    sifaka: Sifaka, here: Path
) -> None:
    (here / "letter.md").write_text(LETTER)
    store = ("--store", f"sqlite:///{here / 'own runs.db'}")
    task = ("--prompt", "Make it friendlier.", *store)
    shown = sifaka.prints("improve", "letter.md", *task, code=1)
    (here / "FILE").write_text(LETTER.replace("30 EUR", "35 EUR"))
    shown = sifaka.prints(*_command_in(shown, "FILE"), code=1)
    assert "Not taken yet: '30 EUR' -> '35 EUR'" in shown
    shown = sifaka.prints(*_command_in(shown, "WHY"), code=1)
    assert "Once more as its reader" in shown, "the sheet"
    assert "submit_revision" not in shown
    assert "done (accepted), passing" in sifaka.prints(*_command_in(shown, "--accept"))


def _command_in(shown: str, word: str) -> list[str]:
    """The words of the first command with a word among those that are told, behind `sifaka`."""
    commands = (shlex.split(told) for told in re.findall(r"`sifaka (.*?)`", shown))
    return next(command for command in commands if word in command)


def test_a_run_that_is_not_kept_names_no_command(sifaka: Sifaka, here: Path) -> None:
    shown = sifaka.prints("improve", "text.md", "--min-words", "99", "--store", "memory:", code=1)
    assert "--model provider:name" in shown
    assert "sifaka submit" not in shown
    assert "sifaka history" not in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_in_the_help_of_a_command_is_one_of_its_calls(name: str) -> None:
    parser, command = parser_for([name])
    assert command.epilog is not None
    words = shlex.split(command.epilog.removeprefix("example: sifaka "))
    assert parser.parse_args(words).command == name
