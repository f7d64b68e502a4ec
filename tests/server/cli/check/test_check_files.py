"""The files that are found, and those that cannot be checked."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.cli.check.conftest import Check, Done
from tests.stubs.servers import environment

WRONG = "We recieve it.\n"
ROOT = Path(__file__).parents[4]


def write(folder: Path, *names: str, text: str = WRONG) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def found(done: Done) -> list[str]:
    return [line.partition(":")[0] for line in done.lines]


def test_a_folder_stands_for_the_texts_below_it(texts: Path, check: Check) -> None:
    write(texts, "b.md", "a.txt", "sub/c.markdown", "sub/deep/D.MD")
    write(texts, "code.py", "data.json", ".hidden.md", ".git/x.md", "node_modules/p/README.md")
    write(texts, "sub/venv/pyvenv.cfg", "sub/venv/x.md", "env/pyvenv.cfg", "env/x.md")
    assert found(check(".")) == ["a.txt", "b.md", "sub/c.markdown", "sub/deep/D.MD"]
    assert found(check("node_modules")) == ["node_modules/p/README.md"]


def test_a_file_is_checked_once(texts: Path, check: Check) -> None:
    write(texts, "sub/a.md")
    assert found(check("sub", "./sub/a.md", "sub/../sub")) == ["sub/a.md"]


def test_what_git_ignores_is_left_out_unless_it_is_named(texts: Path, check: Check) -> None:
    write(texts, "a.md", "made/b.md", "sub/c.md", "sub/keep.md", "sub/deep/d.md", "sub/e.md")
    (texts / ".git").mkdir()
    (texts / ".gitignore").write_text("/made/\nsub/*.md\n")
    (texts / "sub" / ".gitignore").write_text("!keep.md\n/deep\n")
    assert found(check(".")) == ["a.md", "sub/keep.md"]
    assert found(check("sub")) == ["sub/keep.md"]
    assert found(check("sub/e.md", "made")) == ["sub/e.md", "made/b.md"]


def test_each_file_that_cannot_be_checked_is_a_line_and_the_rest_goes_on(
    texts: Path, check: Check, tmp_path: Path
) -> None:
    write(texts, "good.md")
    (texts / "binary.md").write_bytes(b"\x89PNG\r\n\x00\x00")
    (texts / "latin.md").write_bytes("Käse".encode("latin-1"))
    (texts / "utf16.md").write_bytes(b"\xff\xfe\x00\xd8")
    (texts / "nul.md").write_bytes(b"\xff\xfe\x00\x00\x00\x00\x00\x00")
    (texts / "empty.md").write_bytes(b"")
    with (texts / "big.md").open("wb") as big:
        big.truncate(50_000_000)
    write(texts, "long.md", text="All is well. " * 80_000)
    os.mkfifo(texts / "pipe.md")
    (texts / "gone.md").symlink_to("nowhere.md")
    (texts / "loop.md").symlink_to("loop.md")
    (tmp_path / "outside.md").write_text(WRONG)
    (tmp_path / "folder").mkdir()
    (texts / "sifaka.toml").write_text("[check]\n")
    (texts / "out.md").symlink_to("../outside.md")
    (texts / "out").symlink_to("../folder")
    (texts / "inside.md").symlink_to("good.md")
    (texts / "again").symlink_to(".")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("s.md")
        done = check(".", "--exit-zero", "--fix")
    assert done.code == 2
    assert done.out == ""
    assert (texts / "good.md").read_text() == "We receive it.\n"
    assert (tmp_path / "outside.md").read_text() == WRONG
    told = dict(line.removeprefix("sifaka: ").split(": ", 1) for line in done.err.splitlines()[:-1])
    assert told == {
        "big.md": "has 50,000,000 bytes, too many for one text — split it",
        "binary.md": "is binary",
        "gone.md": "No such file or directory",
        "latin.md": "is not UTF-8 at byte 1 — convert it to UTF-8",
        "long.md": "the text has 1,040,000 characters, at most 1,000,000 are allowed"
        " — split it and work on the parts",
        "loop.md": "Too many levels of symbolic links",
        "nul.md": "the text contains a NUL character at offset 0 — remove it",
        "out": "is a link that leads outside",
        "out.md": "is a link that leads outside",
        "pipe.md": "is no regular file",
        "s.md": "is no regular file",
        "utf16.md": "is not UTF-16-LE at byte 2 — convert it to UTF-8",
    }


def test_files_that_are_named_and_cannot_be_checked(texts: Path, check: Check) -> None:
    os.mkfifo(texts / "pipe")
    (texts / "loop").symlink_to("loop")
    done = check("pipe", "loop", "a\x00b", "x" * 5000, "/dev/null")
    assert done.code == 2
    assert [line.rpartition(": ")[2] for line in done.err.splitlines()] == [
        "is no regular file",
        "Too many levels of symbolic links",
        "embedded null byte",
        "File name too long",
        "is no regular file",
    ]


@pytest.mark.slow
def test_a_folder_without_permission_is_a_line(texts: Path) -> None:
    write(texts, "good.md", "closed/a.md", "unreadable.md")
    (texts / "closed").chmod(0)
    (texts / "unreadable.md").chmod(0)
    # Root may read everything, unless that is taken from it.
    limits = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    done = subprocess.run(
        [
            *(limits if os.geteuid() == 0 else []),
            sys.executable,
            "-m",
            "sifaka_mcp.cli",
            "check",
            ".",
        ],
        env={**environment(texts / "home"), "PYTHONPATH": f"{ROOT}:{ROOT / 'server'}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    (texts / "closed").chmod(0o755)
    assert done.returncode == 2, done.stderr
    assert done.stdout.startswith("good.md:1:4: misspelling")
    assert "sifaka: closed: Permission denied\n" in done.stderr
    assert "sifaka: unreadable.md: Permission denied\n" in done.stderr


@pytest.mark.slow
def test_many_files_are_shared_by_processes_and_reported_in_order(
    texts: Path, check: Check
) -> None:
    names = [f"{number:02}.md" for number in range(40)]
    write(texts, *names)
    (texts / "20.md").write_bytes(b"\x00")
    done = check(".", "--jobs", "2", "--fix", "--select", "spelling")
    assert done.code == 2
    assert done.err.splitlines() == ["sifaka: 20.md: is binary", "sifaka: 39 fixed"]
    assert (texts / "39.md").read_text() == "We receive it.\n"
    assert check(".", "--jobs", "2", "--select", "spelling").out == ""


@pytest.mark.parametrize("jobs", ["0", "1.5", "x", "9999"])
def test_a_number_of_processes_that_is_none_is_refused(check: Check, jobs: str) -> None:
    done = check(".", "--jobs", jobs)
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_no_text_at_all_is_said_and_no_failure(texts: Path, check: Check) -> None:
    write(texts, "code.py")
    done = check(".")
    assert (done.code, done.err) == (0, "sifaka: there are no texts in the paths\n")


RST = "Title\n=====\n\nWe recieve it.\n\n.. code-block:: python\n\n   from recieve import teh\n"


def test_each_format_is_read_by_its_own_rules(texts: Path, check: Check) -> None:
    write(texts, "a.rst", "page.rst.txt", "look.txt", text=RST)
    write(texts, "data.json", "code.c", "requirements.txt", "catalogue.po", "code.py")
    done = check(".", "--fix")
    assert (done.code, done.out, done.err) == (0, "", "sifaka: 3 fixed\n")
    assert (texts / "look.txt").read_text() == RST.replace("We recieve", "We receive")


def test_source_code_and_data_are_refused_where_they_are_named(texts: Path, check: Check) -> None:
    write(texts, "code.c", "data.json")
    write(texts, "list.txt", text='{"a": "recieve"}\n')
    done = check("code.c", "data.json")
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines() == [
        "sifaka: code.c: source code is not checked; --as text checks it as plain text",
        "sifaka: data.json: data is not checked; --as text checks it as plain text",
    ]
    assert check("code.c", "--as", "text").code == 1
    walked = check(".")
    assert walked.code == 0
    assert (
        walked.err == "sifaka: list.txt: data is not checked; --as text checks it as plain text\n"
    )


def test_a_pattern_says_what_a_file_is(texts: Path, check: Check) -> None:
    write(texts, "page.tpl", "other.tpl")
    (texts / "sifaka.toml").write_text('[check.as]\n"page.*" = "markdown"\n')
    assert found(check(".")) == ["page.tpl"]
    (texts / "sifaka.toml").write_text('[check.as]\n"page.*" = "markdwn"\n')
    done = check(".")
    assert done.code == 2
    assert "check.as: unknown format 'markdwn' — did you mean 'markdown'?" in done.err


def test_what_is_not_english_is_told(texts: Path, check: Check) -> None:
    write(texts, "a.md", text="Das ist ein deutscher Satz, und er ist nicht der letzte hier.\n")
    done = check("a.md")
    assert done.code == 0
    assert done.err == "sifaka: a.md: language: not checked, the text is not in English\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_a_signal_ends_the_command_and_its_processes(
    texts: Path, number: signal.Signals, code: int
) -> None:
    long = "All is well, and all of it is as it was on the day before. " * 1_500
    write(texts, *(f"{each}.md" for each in range(64)), text=long)
    (texts / "0.md").write_text(WRONG)
    command = [sys.executable, "-m", "sifaka_mcp.cli", "check", ".", "--fix", "--jobs", "2"]
    with subprocess.Popen(
        command,
        env={**environment(texts / "home"), "PYTHONPATH": f"{ROOT}:{ROOT / 'server'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while WRONG in (texts / "0.md").read_text():
            assert process.poll() is None
        process.send_signal(number)
        # Each of its processes holds these streams open until it has ended.
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, b"")
    assert not err or number == signal.SIGKILL, err
