"""The completion of the commands, in the shells themselves."""

import os
import pty
import select
import shutil
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sifaka_mcp.cli import run
from tests.server.cli.test_imports import modules_of


@pytest.fixture
def script(here: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[str], Path]:
    """The file that a shell reads at its start."""

    def written(shell: str) -> Path:
        assert run(["completion", shell]) == 0
        path = here / f"completion.{shell}"
        path.write_text(capsys.readouterr().out)
        return path

    return written


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"no {shell}")


def told(*command: str) -> set[str]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    return {line.partition("\t")[0] for line in done.stdout.splitlines()}


@needs("bash")
def test_bash_completes_commands_options_choices_and_files(script: Callable[[str], Path]) -> None:
    path = script("bash")

    def completed(*words: str) -> set[str]:
        line = " ".join(f"'{word}'" for word in words)
        work = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _shtab_sifaka"
        return told("bash", "-c", f"source {path}; {work}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")

    assert completed("sifaka", "ch") == {"check"}
    assert completed("sifaka", "check", "--fo") == {"--format"}
    assert completed("sifaka", "check", "--format", "s") == {"sarif"}
    assert completed("sifaka", "check", "tex") == {"text.md"}


@needs("fish")
def test_fish_completes_commands_options_choices_and_files(script: Callable[[str], Path]) -> None:
    path = script("fish")

    def completed(line: str) -> set[str]:
        return told("fish", "--no-config", "-c", f"source {path}; complete -C '{line}'")

    assert completed("sifaka ch") == {"check"}
    assert completed("sifaka check --fo") == {"--format"}
    assert completed("sifaka check --format s") == {"sarif"}
    assert completed("sifaka check tex") == {"text.md"}


@needs("zsh")
@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("sifaka comple\t", "sifaka completion"),
        ("sifaka check --form\t", "sifaka check --format"),
        ("sifaka check --format sar\t", "sifaka check --format sarif"),
        ("sifaka check tex\t", "sifaka check text.md"),
    ],
)
def test_zsh_completes_what_is_typed(
    here: Path, script: Callable[[str], Path], typed: str, shown: str
) -> None:
    script("zsh").rename(here / "_sifaka")
    start = f"PS1=re\\ady; fpath=({here} $fpath); autoload -Uz compinit; compinit -u -D\n"
    terminal, end = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 200))
    with subprocess.Popen(["zsh", "-f", "-i"], stdin=end, stdout=end, stderr=end) as shell:
        os.close(end)
        try:
            os.write(terminal, start.encode())
            read_until(terminal, "ready")
            os.write(terminal, typed.encode())
            read_until(terminal, shown)
        finally:
            shell.kill()
    os.close(terminal)


def read_until(terminal: int, wanted: str) -> None:
    """Read what the shell shows until it has shown this."""
    seen = ""
    last = time.monotonic() + 30
    while wanted not in seen:
        assert select.select([terminal], [], [], last - time.monotonic())[0], seen
        seen += os.read(terminal, 4096).decode(errors="replace")


def test_an_unknown_shell_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(["completion", "fsh"])
    assert "did you mean fish?" in capsys.readouterr().err


def test_no_other_command_loads_what_completion_needs(tmp_path: Path) -> None:
    for arguments in (("--help",), ("check", "--help")):
        assert "shtab" not in modules_of(*arguments, folder=tmp_path)
    assert "shtab" in modules_of("completion", "bash", folder=tmp_path)
