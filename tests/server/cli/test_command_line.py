"""The commands as a person or a script calls them: a few as processes, most in this one."""

import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Protocol

import pytest

from sifaka_mcp.cli import run
from tests.stubs.servers import environment
from tests.stubs.static_models import write_static_model

MISTAKES = "We recieve all of the the goods .\n"
MENDED = "We receive all of the goods.\n"

Done = subprocess.CompletedProcess[str]


@pytest.fixture
def folder(here: Path) -> Path:
    (here / "text.md").write_text(MISTAKES)
    return here


class Sifaka(Protocol):
    """Calls a command in this process, in the folder, which takes a tenth of a process's time."""

    def __call__(self, *arguments: str, given: str | None = None, **more: str) -> Done: ...


@pytest.fixture
def sifaka(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Sifaka:
    def call(*arguments: str, given: str | None = None, **more: str) -> Done:
        with monkeypatch.context() as call:
            for name, value in more.items():
                call.setenv(name, value)
            call.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((given or "").encode())))
            try:
                code = run(arguments)
            except SystemExit as stop:
                code = stop.code if isinstance(stop.code, int) else -1
        told = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, told.out, told.err)

    return call


def sifaka_process(folder: Path, *arguments: str, given: str | None = None, **more: str) -> Done:
    return subprocess.run(
        [sys.executable, "-m", "sifaka_mcp.cli", *arguments],
        cwd=folder,
        env=environment(folder / "home", PYTHONPATH=str(Path.cwd()), **more),
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_improve_shows_the_changes_with_their_reasons_and_the_text(folder: Path) -> None:
    done = sifaka_process(folder, "improve", "text.md", "--max-words", "9")
    assert done.returncode == 0, done.stderr
    assert "'recieve' -> 'receive'" in done.stdout
    assert '"recieve" should be "receive"' in done.stdout
    assert MENDED in done.stdout
    assert "pass" in done.stdout
    assert "\x1b" not in done.stdout, "no colour in a pipe"
    assert done.stderr == ""


@pytest.mark.slow
def test_improve_gives_the_tools_structured_result_as_json(folder: Path) -> None:
    done = sifaka_process(folder, "improve", "-", "--json", given=MISTAKES)
    result = json.loads(done.stdout)
    assert (result["status"], result["text"]) == ("done", MENDED)


@pytest.mark.slow
def test_improve_in_place_keeps_the_mode_and_the_line_endings(folder: Path) -> None:
    path = folder / "text.md"
    path.write_bytes(b"We recieve it.\r\nAnd we keep it.\r\n")
    path.chmod(0o640)
    assert sifaka_process(folder, "improve", "text.md", "--in-place").returncode == 0
    assert path.read_bytes() == b"We receive it.\r\nAnd we keep it.\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


def test_improve_writes_to_another_file(sifaka: Sifaka, folder: Path) -> None:
    assert sifaka("improve", "text.md", "--out", "new.md").returncode == 0
    assert (folder / "new.md").read_text() == MENDED
    assert (folder / "text.md").read_text() == MISTAKES


@pytest.mark.slow
def test_a_text_that_does_not_pass_is_exit_code_1(folder: Path) -> None:
    done = sifaka_process(folder, "improve", "text.md", "--min-words", "99")
    assert done.returncode == 1
    assert "needs_revision" in done.stdout


def test_validate_prints_a_table_and_says_by_its_exit_code(sifaka: Sifaka) -> None:
    passing = sifaka("validate", "text.md", "--max-words", "9")
    assert passing.returncode == 0
    failing = sifaka("validate", "text.md", "--max-words", "2", "--forbid", "goods=things")
    assert failing.returncode == 1
    assert "FAIL" in failing.stdout


def test_rules_can_come_from_a_file(sifaka: Sifaka, folder: Path) -> None:
    spec = "validators:\n  - {type: length, max_words: 2}\n"
    (folder / "rules.yaml").write_text(spec)
    assert sifaka("validate", "text.md", "--spec", "rules.yaml").returncode == 1


def test_critique_reports_without_changing(sifaka: Sifaka, folder: Path) -> None:
    done = sifaka("critique", "text.md")
    assert done.returncode == 1
    assert "recieve" in done.stdout
    assert (folder / "text.md").read_text() == MISTAKES


def test_critique_lists_what_differs_from_an_original(sifaka: Sifaka, folder: Path) -> None:
    (folder / "before.md").write_text("It costs 4 euros.")
    (folder / "after.md").write_text("It costs 6 euros.")
    done = sifaka("critique", "after.md", "--original", "before.md")
    assert done.returncode == 1
    assert "money '4 euros' -> '6 euros': open" in done.stdout
    assert sifaka("critique", "after.md").returncode == 0


def test_history_search_and_resume_find_the_run(sifaka: Sifaka) -> None:
    run_id = json.loads(sifaka("improve", "text.md", "--json").stdout)["run_id"]
    assert run_id in sifaka("history").stdout
    assert "version 1" in sifaka("history", run_id).stdout
    assert run_id in sifaka("search", "goods").stdout
    assert sifaka("resume", run_id).returncode == 0


def test_doctor_tells_a_store_and_an_embedding_model_apart(sifaka: Sifaka) -> None:
    done = sifaka("doctor", "--json", SIFAKA_EMBEDDING_MODEL="model2vec:/no/model")
    report = {finding["part"]: finding for finding in json.loads(done.stdout)}
    assert done.returncode == 1
    assert report["store"]["works"]
    assert not report["embedding model"]["works"]
    assert "/no/model" in report["embedding model"]["found"]
    unknown = sifaka("doctor", SIFAKA_EMBEDDING_MODEL="no-such-provider:x")
    assert "FAIL  embedding model" in unknown.stdout


def test_doctor_says_what_is_configured(sifaka: Sifaka) -> None:
    done = sifaka("doctor", "--json")
    parts = {finding["part"]: finding["works"] for finding in json.loads(done.stdout)}
    expected = ("sifaka", "store", "semantic search", "model", "editor")
    assert parts == dict.fromkeys(expected, True)
    host = sifaka("doctor", SIFAKA_MODEL="host", SIFAKA_FALLBACK_MODELS="host,caller")
    assert host.returncode == 0, host.stdout
    broken = sifaka("doctor", SIFAKA_MODEL="openai:gpt-5")
    assert broken.returncode == 1
    assert "FAIL  model" in broken.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["improve", "missing.md"], "missing.md"),
        (["improve", "."], "."),
        (["improve", "-", "--in-place"], "--in-place"),
        (["improve", "text.md", "--max-words", "3", "--min-words", "9"], "min_words"),
        (["improve", "text.md", "--critics", "nobody"], "nobody"),
        (["improve", "text.md", "--model", "gpt-5"], "gpt-5"),
        (["improve", "text.md", "--out", "no/such/folder/x"], "no/such/folder/x"),
        (["validate", "text.md"], "no rules"),
        (["validate", "text.md", "--spec", "text.md"], "text.md"),
        (["history", "run_x"], "run_x"),
        (["resume", "run_x"], "run_x"),
        (["history", "--store", "mysql://x"], "mysql"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    sifaka: Sifaka, arguments: list[str], said: str
) -> None:
    done = sifaka(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("sifaka: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SIFAKA_STORE", "mysql://localhost"),
        ("SIFAKA_LOG_LEVEL", "LOUD"),
        ("SIFAKA_TOOLSETS", "refine,cooking"),
        ("SIFAKA_TENANT", "a/b"),
        ("SIFAKA_MODEL", "gpt-5"),
    ],
)
def test_a_wrong_environment_is_one_line_that_names_it(
    sifaka: Sifaka, name: str, value: str
) -> None:
    done = sifaka("improve", "text.md", **{name: value})
    assert done.returncode == 2
    assert value.split(",")[-1] in done.stderr
    assert done.stderr.count("\n") == 1


def test_flags_win_over_the_environment_over_the_folder_over_the_users_own_file(
    sifaka: Sifaka, folder: Path, config: Path
) -> None:
    config.mkdir()
    (config / "config.toml").write_text('store = "sqlite:///own.db"\n')
    sifaka("improve", "text.md")
    assert (folder / "own.db").exists()
    (folder / "sifaka.toml").write_text('store = "sqlite:///file.db"\n')
    assert sifaka("trust", "--yes").returncode == 0
    sifaka("improve", "text.md")
    assert (folder / "file.db").exists()
    sifaka("improve", "text.md", SIFAKA_STORE="sqlite:///environment.db")
    assert (folder / "environment.db").exists()
    flag = ["--store", "sqlite:///flag.db"]
    sifaka("improve", "text.md", *flag, SIFAKA_STORE="sqlite:///environment.db")
    assert (folder / "flag.db").exists()


def test_a_wrong_value_in_the_users_own_file_is_named(sifaka: Sifaka, config: Path) -> None:
    config.mkdir()
    (config / "config.toml").write_text('log_level = "LOUD"\n')
    done = sifaka("history")
    assert done.returncode == 2
    assert "config.toml: log_level='LOUD'" in done.stderr
    assert "DEBUG" in done.stderr


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m sifaka_mcp.cli improve text.md | head -c 1 >/dev/null"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, **environment(folder / "home", PYTHONPATH=str(Path.cwd()))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_search_by_meaning_needs_no_server_to_have_run(sifaka: Sifaka, folder: Path) -> None:
    model = f"model2vec:{write_static_model(folder / 'tiny')}"
    (folder / "alpha.md").write_text("alpha")
    sifaka("improve", "alpha.md", SIFAKA_EMBEDDING_MODEL=model)

    found = sifaka("search", "beta", "--json", SIFAKA_EMBEDDING_MODEL=model)

    told = json.loads(found.stdout)
    assert told["search"] == "hybrid"
    assert [hit["snippet"] for hit in told["hits"]] == ["alpha"]
    plain = sifaka("search", "beta", "--json")
    assert json.loads(plain.stdout)["hits"] == []
