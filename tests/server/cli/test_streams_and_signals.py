"""Terminals, pipes, full disks and signals, which need real processes."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest

from sifaka.record.entries import Entry, Recovered, Started
from sifaka.record.run import Run
from sifaka.storage import SQLiteStorage
from sifaka_mcp.cli import run
from tests.stubs.commands import SIFAKA, Sifaka, own_environment, started
from tests.stubs.provider import HANGS, Reply, provider, says
from tests.stubs.servers import HELLO, heard, tell

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def in_shell(folder: Path, command: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=folder,
        env=own_environment(folder, SIFAKA=" ".join(SIFAKA), **more),
        capture_output=True,
        timeout=60,
        check=False,
    )


@contextmanager
def asking(
    folder: Path, *arguments: str, then: Sequence[Reply] = (), **more: str
) -> Generator[tuple[subprocess.Popen[bytes], dict[str, str]]]:
    """A command whose model has been asked, and what tells others of that model."""
    asked = threading.Event()

    def replies() -> Iterator[Reply]:
        asked.set()
        yield HANGS
        yield from then

    with provider(replies()) as served:
        key = {"OPENAI_API_KEY": "sk-test-key", "OPENAI_BASE_URL": served.url}
        told = ("improve", *arguments, "--model", "openai-chat:stub", "--max-words", "3")
        with started(folder, *told, **key, **more) as command:
            try:
                assert command.stdin is not None
                command.stdin.write(b"We recieve all of the goods.")
                command.stdin.close()
                command.stdin = None
                assert asked.wait(timeout=100)
                yield command, key
            finally:
                command.kill()


@pytest.mark.slow
def test_an_interrupt_ends_a_server_that_waits_for_standard_input(here: Path) -> None:
    with started(here, program="sifaka_mcp") as server:
        tell(server, HELLO)
        assert heard(server)["id"] == 1
        server.send_signal(signal.SIGINT)
        assert server.communicate(timeout=100) == (b"", b"")
        assert server.returncode == 130


@pytest.mark.slow
@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
def test_a_terminated_run_is_cancelled(here: Path, sifaka: Sifaka, background: bool) -> None:
    # As shells start a command in the background.
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN) if background else None
    with asking(here, "text.md") as (command, _):
        if background:
            signal.signal(signal.SIGINT, usual)
            command.send_signal(signal.SIGINT)
        command.send_signal(signal.SIGTERM)
        _, err = command.communicate(timeout=100)
        assert (command.returncode, err) == (143, b"")
    assert [r["status"] for r in sifaka.json("history")["runs"]] == ["cancelled"]


@pytest.mark.slow
def test_an_interrupt_prints_the_command_that_goes_on_with_the_run(here: Path) -> None:
    arguments = ("text.md", "--critics", "lint", "--in-place", "--store", "sqlite:///my runs.db")
    with asking(here, *arguments, then=[says("We receive all.")]) as (command, key):
        command.send_signal(signal.SIGINT)
        _, told = command.communicate(timeout=100)
        assert command.returncode == 130
        prefix, _, resume = told.decode().strip().partition("; to go on: ")
        assert prefix == "sifaka: interrupted"
        assert resume.startswith("sifaka resume run_")
        assert "sqlite:///my runs.db" in shlex.split(resume)
        assert (here / "text.md").read_text().startswith("We recieve")
        done = in_shell(here, resume.replace("sifaka", "$SIFAKA", 1), **key)
    assert done.returncode == 0, done.stderr
    assert (here / "text.md").read_text().strip() == "We receive all."


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with names")
def test_a_signal_ends_a_command_that_waits(number: signal.Signals, code: int, here: Path) -> None:
    os.mkfifo(here / "pipe")
    with started(here, "validate", "pipe", "--max-words", "5") as command:
        try:
            with (here / "pipe").open("wb"):  # waits for the one that reads
                command.send_signal(number)
                assert command.communicate(timeout=100)[1] == b""
                assert command.returncode == code
        finally:
            command.kill()


@pytest.mark.slow
def test_a_run_in_memory_cannot_be_gone_on_with(here: Path) -> None:
    with asking(here, "-", SIFAKA_STORE="memory:") as (command, _):
        command.send_signal(signal.SIGINT)
        assert command.communicate(timeout=100) == (b"", b"")
        assert command.returncode == 130


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding)

    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        self.seek(0)
        return self.read()


def test_a_terminal_without_unicode_gets_escapes(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "text.md").write_text("Caf\u00e9 recieve \U0001f600.\n", encoding="utf-8")
    terminal = Terminal("ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    run(["critique", "text.md"])
    run(["improve", "text.md"])
    assert "Caf\\xe9" in terminal.shown()
    terminal = Terminal("ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    run(["improve", "text.md", "--json"])
    assert "Caf\u00e9" in json.loads(terminal.shown())["text"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["improve", "text.md"],
        ["improve", "text.md", "--json"],
        ["improve", "-", "--out", "-"],
        ["validate", "text.md", "--max-words", "3"],
        ["critique", "text.md", "--critics", "lint", "--json"],
        ["check", "text.md"],
        ["check", "text.md", "--diff"],
        ["check", "text.md", "--format", "json"],
    ],
    ids=" ".join,
)
def test_no_terminal_obeys(
    here: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    text = "We recieve \x1b]0;title\x07 and \x9b31m and \x85 teh end.\n"
    (here / "text.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    run(arguments)
    assert terminal.shown()
    obeyed = ("\x1b]", "\x07", "\x9b", "\x85")
    assert not [each for each in obeyed if each in terminal.shown()]


@pytest.mark.parametrize(
    "arguments",
    [
        ["improve", "{}"],
        ["improve", "text.md", "--{}"],
        ["forget", "{}"],
        ["history", "{}"],
        ["history", "--store", "{}"],
        ["check", "{}"],
        ["{}"],
    ],
    ids=" ".join,
)
def test_no_error_has_what_a_terminal_would_obey(sifaka: Sifaka, arguments: list[str]) -> None:
    done = sifaka(*(each.format("x\x1b]0;title\x07\x9b31m\u202e") for each in arguments))
    assert "title" in done.err
    assert not set("\x1b\x07\x9b\u202e") & set(done.out + done.err)


def test_json_on_a_terminal_has_no_marks_that_reorder_it(sifaka: Sifaka, here: Path) -> None:
    (here / "text.md").write_text("It is \u202eevil\u2066 so.\n", encoding="utf-8")
    shown = sifaka("improve", "text.md", "--json").out
    assert not set("\u202e\u2066") & set(shown)
    assert "\u202e" in json.loads(shown)["text"]


@pytest.mark.slow
def test_a_pipe_gets_utf_8_whatever_the_locale_says(here: Path) -> None:
    (here / "text.md").write_text("Caf\u00e9 \u2014 recieve \U0001f600.\n", encoding="utf-8")
    piped = in_shell(here, "$SIFAKA improve text.md --json", **ASCII)
    assert piped.stderr == b""
    assert json.loads(piped.stdout.decode("utf-8"))["text"].startswith("Caf\u00e9")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["-", "text.md --out -"])
def test_a_filter_prints_the_text_and_its_report_apart(here: Path, target: str) -> None:
    (here / "text.md").write_bytes(b"We recieve it.\r\n\nNo end")
    done = in_shell(here, f"$SIFAKA improve {target} < text.md")
    assert done.returncode == 0
    assert done.stdout == b"We receive it.\r\n\nNo end"
    assert b"done (rules_met), nobody judged the meaning" in done.stderr
    assert b"[-recieve-]{+receive+}" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_behind_standard_output_is_one_line(here: Path) -> None:
    done = in_shell(here, "$SIFAKA history > /dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith(b"sifaka: standard output: ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.slow
def test_a_reader_that_left_does_not_change_the_exit_code(here: Path) -> None:
    failing = "$SIFAKA validate text.md --max-words 1"
    done = in_shell(here, f"{{ {failing}; echo $? >&2; }} | true")
    assert done.stderr == b"1\n"


@pytest.mark.slow
def test_following_a_run_ends_when_the_reader_has_left(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    store = f"sqlite:///{tmp_path}/runs.db"
    begun = Started(prompt="x")  # a run that somebody else works on
    run, more = Run.start(begun), Recovered(strategy="retry", error="x")

    async def append(run: Run, *new: Entry, after: int) -> None:
        runs = SQLiteStorage(tmp_path / "runs.db")
        await runs.append(run, new, expected_version=after)
        await runs.aclose()

    anyio.run(partial(append, run, begun, after=0))
    with started(tmp_path, "history", run.run_id, "--follow", SIFAKA_STORE=store) as process:
        assert process.stdout is not None
        assert b"started" in process.stdout.readline()
        process.stdout.close()
        anyio.run(partial(append, run.apply(more), more, after=1))
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_a_server_whose_embedding_model_is_not_there_says_so_in_one_line(tmp_path: Path) -> None:
    told = {"SIFAKA_EMBEDDING_MODEL": "model2vec:/no/model"}
    process = started(tmp_path, program="sifaka_mcp", **told)
    out, err = process.communicate(timeout=100)

    assert (process.returncode, out) == (2, b"")
    assert err.startswith(b"sifaka: model2vec: there is no folder '/no/model'")
    assert err.count(b"\n") == 1
