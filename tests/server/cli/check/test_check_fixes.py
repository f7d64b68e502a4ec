"""`--fix`, `--suggestions` and `--diff`: what is written, and what is only shown."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka_mcp.cli.document import read_text_file, write_text_file
from tests.server.cli.check.conftest import Check

WRONG = "We recieve all of the the goods.\n"
RIGHT = "We receive all of the goods.\n"


def test_certain_fixes_are_written_and_the_rest_is_reported(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG + "I seen it.\n")
    done = check("a.md", "--fix")
    assert (texts / "a.md").read_text() == RIGHT + "I seen it.\n"
    assert [line.split()[1] for line in done.lines] == ["wrong_verb"]
    assert (done.code, done.err.splitlines()[0].startswith("sifaka: 2 fixed, 1 found")) == (1, True)


def test_suggested_fixes_are_written_when_they_are_wanted(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text("I seen it.\n")
    assert check("a.md", "--fix", "--suggestions").code == 0
    assert (texts / "a.md").read_text() == "I saw it.\n"
    assert check("a.md", "--suggestions").code == 2


def test_only_the_chosen_rules_fix(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    check("a.md", "--fix", "--select", "spelling")
    assert (texts / "a.md").read_text() == "We receive all of the the goods.\n"


def test_a_second_fix_has_nothing_to_do(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    assert check("a.md", "--fix").code == 0
    before = (texts / "a.md").stat()
    assert check("a.md", "--fix").code == 0
    assert (texts / "a.md").stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (b"", "utf-8"),
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe", "utf-16-le"),
        (b"\xfe\xff", "utf-16-be"),
        (b"\xff\xfe\x00\x00", "utf-32-le"),
    ],
)
def test_encoding_byte_order_mark_line_ends_and_mode_stay(
    texts: Path, check: Check, mark: bytes, encoding: str
) -> None:
    path = texts / "a.md"
    path.write_bytes(mark + "Äh, we recieve.\r\n\nOld\rends, and no last one".encode(encoding))
    path.chmod(0o640)
    assert check("a.md", "--fix").code == 0
    want = mark + "Äh, we receive.\r\n\nOld\rends, and no last one".encode(encoding)
    assert path.read_bytes() == want
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_root_leaves_a_file_to_its_owner(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text(WRONG)
    os.chown(texts / "a.md", 1234, 2345)
    check("a.md", "--fix")
    assert (texts / "a.md").read_text() == RIGHT
    assert ((texts / "a.md").stat().st_uid, (texts / "a.md").stat().st_gid) == (1234, 2345)


def test_a_link_that_is_named_stays_a_link(texts: Path, check: Check) -> None:
    (texts / "real.md").write_text(WRONG)
    (texts / "link.md").symlink_to("real.md")
    assert check("link.md", "--fix").code == 0
    assert (texts / "link.md").is_symlink()
    assert (texts / "real.md").read_text() == RIGHT


def test_a_diff_shows_what_fix_would_write_and_writes_nothing(texts: Path, check: Check) -> None:
    (texts / "a.md").write_text("One.\n" + WRONG.rstrip("\n"))
    (texts / "b.md").write_text("A form\x0cfeed\u2028and we recieve it.\n")
    done = check(".", "--diff")
    assert done.code == 1
    assert "-We recieve all of the the goods.\n\\ No newline at end of file\n" in done.out
    assert "a.md:" not in done.out
    patched = subprocess.run(["patch", "-p0"], input=done.out.encode(), check=False)
    assert patched.returncode == 0
    assert (texts / "a.md").read_text() == "One.\n" + RIGHT.rstrip("\n")
    assert (texts / "b.md").read_text() == "A form\x0cfeed\u2028and we receive it.\n"
    assert check(".", "--diff").code == 0


def test_the_text_of_standard_input_is_fixed_as_by_a_filter(check: Check) -> None:
    given = b"\xef\xbb\xbfWe recieve it.\r\nI seen it.\r\n"
    done = check("-", "--fix", given=given)
    assert done.out == "\ufeffWe receive it.\r\nI seen it.\r\n"
    assert done.err.startswith("-:2:3: wrong_verb")
    assert done.code == 1


def test_a_file_that_was_changed_meanwhile_is_not_written(texts: Path) -> None:
    path = texts / "a.md"
    path.write_text(WRONG)
    file = read_text_file(path)
    path.write_text("Another text.\n")
    with pytest.raises(ConfigurationError, match=r"was changed .*; not written"):
        write_text_file(file, RIGHT)
    assert path.read_text() == "Another text.\n"
    path.unlink()
    with pytest.raises(ConfigurationError, match="No such file"):
        write_text_file(file, RIGHT)
    assert list(texts.iterdir()) == []


def test_nothing_is_written_where_there_is_no_room(texts: Path) -> None:
    path = texts / "a.md"
    path.write_text(WRONG)
    file = read_text_file(path)
    with pytest.raises(UnicodeEncodeError):
        write_text_file(file, "half of a pair \ud800")
    assert path.read_text() == WRONG
    assert [each.name for each in texts.iterdir()] == ["a.md"]
