"""`sifaka check` on what git can store: links, files of rules, and names, made to do harm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sifaka_mcp.cli.check.files import project_of
from sifaka_mcp.cli.document import read_text_file, write_text_file
from tests.server.cli.check.conftest import Check
from tests.sifaka._internal.test_safe_open import flipped

WRONG = "We recieve it.\n"


@pytest.fixture
def outside(texts: Path, tmp_path: Path) -> Path:
    """A text elsewhere; the folder it lies in, which is a project itself, is linked as `docs`."""
    folder = tmp_path / "elsewhere"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.md").write_text(WRONG)
    (folder / "a.md").write_text(WRONG)
    (folder / "sifaka.toml").write_text("[check]\n")
    (texts / ".git").mkdir()
    (texts / "docs").symlink_to(folder)
    (texts / "own").mkdir()
    (texts / "own" / "linked").symlink_to(folder)
    (texts / "own" / "a.md").symlink_to(folder / "a.md")
    return folder


@pytest.mark.parametrize(
    "path",
    [
        "docs",
        "docs/",
        "docs/sub",
        "docs/a.md",
        "docs/sub/a.md",
        "own",
        "own/a.md",
        "own/linked/sub",
        "own/linked/a.md",
        "./own/../docs/a.md",
    ],
)
def test_nothing_outside_is_read_or_written_through_a_link(
    texts: Path, outside: Path, check: Check, path: str
) -> None:
    for given in (path, str(texts / path)):
        done = check("--fix", given)
        assert (done.code, done.out) == (2, "")
        assert "is a link that leads outside" in done.err
    assert {each.read_text() for each in outside.rglob("*.md")} == {WRONG}
    assert len([*outside.rglob("*")]) == 4


def test_a_project_in_a_project_is_its_own(texts: Path, outside: Path) -> None:
    (texts / "inner" / ".git").mkdir(parents=True)
    assert project_of(Path("inner")) == texts / "inner"
    assert project_of(Path("docs/sub")) == texts
    assert project_of(outside / "sub") == outside


def test_links_inside_the_project_are_followed_where_they_are_named(
    texts: Path, check: Check
) -> None:
    (texts / "real").mkdir()
    (texts / "real" / "a.md").write_text(WRONG)
    (texts / "linked").symlink_to("real")
    assert check("linked", "--fix").code == 0
    assert (texts / "real" / "a.md").read_text() == "We receive it.\n"


@pytest.mark.timeout(60)
def test_links_to_the_folder_itself_make_it_no_larger(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    for name in ("one", "two", "three"):
        (texts / name).symlink_to(".")
    (texts / "loop").symlink_to("loop")
    assert [line.partition(":")[0] for line in check(".").lines] == ["a.md"]
    assert check("loop/a.md", "loop").code == 2


@pytest.mark.timeout(120)
def test_no_fix_is_written_outside_while_a_folder_and_a_link_change_places(texts: Path) -> None:
    (texts / "turn").mkdir()
    (texts / "turn" / "a.md").write_text(WRONG)
    elsewhere = texts.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text(WRONG)
    tried = written = refused = 0
    with flipped(texts):
        while tried < 300 or not (written and refused):
            tried += 1
            try:
                file = read_text_file(Path("turn/a.md"), texts)
                write_text_file(file, f"{WRONG}{tried}")
                written += 1
            except Exception:  # noqa: BLE001 - whatever it is, nothing was written
                refused += 1
    assert [each.name for each in elsewhere.iterdir()] == ["a.md"]
    assert (elsewhere / "a.md").read_text() == WRONG


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "outside", "backslash", "bytes"])
def test_no_gitignore_stops_a_check(texts: Path, check: Check, kind: str) -> None:
    (texts / "a.md").write_text(WRONG)
    path = texts / ".gitignore"
    match kind:
        case "device":
            path.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "outside":
            (texts.parent / "ignores").write_text("*\n")
            path.symlink_to("../ignores")
        case "backslash":
            path.write_text("\\\n\\")
        case _:
            path.write_bytes(b"\xff\xfe\x00\n[\n")
    assert (check(".").code, len(check(".").lines)) == (1, 1)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "told",
    [
        "x = " + "[" * 3_000,
        "x = " + "{a=" * 3_000,
        ".".join("a" * 20_000) + " = 1",
        '"a".' * 20_000 + "a = 1",
        "x = " + "1" * 5_000,
        "#" * 1_000_001,
        "x = '\0'",
    ],
)
@pytest.mark.parametrize("folder", [".", "sub"])
def test_a_hostile_file_of_rules_is_one_line(
    texts: Path, check: Check, told: str, folder: str
) -> None:
    (texts / "sub").mkdir()
    (texts / "sub" / "a.md").write_text(WRONG)
    (texts / folder / "sifaka.toml").write_text(told)
    done = check("sub")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("sifaka: ")
    assert len(done.err) < 5_000


def test_no_key_or_name_is_a_command_of_a_workflow(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    (texts / "sifaka.toml").write_text('[check]\n"x\\n::error::forged\\r::stop" = 1\n')
    done = check("a.md")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "\r" not in done.err
    assert check("--x\n::error::forged").err.count("\n") == 1
    (texts / "sifaka.toml").write_text("[check]\n")
    for name in ("::error::b.md", "##[error]c.md", "e\n::error::d.md", "e%0A::x\x1b[1m.md"):
        (texts / name).write_text(WRONG)
    (texts / "\n::error::f.md").write_bytes(b"\0")
    for form in ("text", "github"):
        told = check(".", "--format", form)
        ours = "::error file=" if form == "github" else "./::error::b.md:1:4"
        lines = [*told.out.splitlines(), *told.err.splitlines()]
        forged = [x for x in lines if x.lstrip().startswith("::") and not x.startswith(ours)]
        assert forged == []
        assert len(told.lines) == 5
        assert "\x1b" not in told.out
    text = check(".")
    assert "##[" not in text.out + text.err
    assert "::error file=e%250A" in check(".", "--format", "github").out
    assert not [x for x in check(".", "--diff").lines if x.startswith("::")]


@pytest.mark.slow
def test_a_name_that_is_no_unicode_is_reported_in_each_form(texts: Path) -> None:
    (Path(os.fsdecode(os.fsencode(texts) + b"/\xff.md"))).write_text(WRONG)
    for form in ("text", "json", "github", "sarif"):
        done = subprocess.run(
            [sys.executable, "-m", "sifaka_mcp.cli", "check", ".", "--format", form],
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 1, done.stderr
        if form in {"json", "sarif"}:
            json.loads(done.stdout)


def test_a_bug_is_one_line_and_no_finding(
    texts: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    (texts / "a.md").write_text(WRONG)

    def broken(*_: object) -> None:
        raise TypeError("what no client reads")

    monkeypatch.setattr("sifaka_mcp.cli.check.find_files", broken)
    done = check("a.md")
    assert (done.code, done.out) == (2, "")
    assert (
        done.err == "sifaka: the check was not finished, because of a bug in Sifaka (TypeError)\n"
    )


def test_a_file_three_hundred_folders_deep_is_a_line(texts: Path, check: Check) -> None:
    deep = Path(*["d"] * 300)
    deep.mkdir(parents=True)
    (deep / "a.md").write_text(WRONG)
    done = check(str(deep / "a.md"))
    assert (done.code, done.err.rpartition(": ")[2]) == (2, "File name too long\n")
