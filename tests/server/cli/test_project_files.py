"""The `sifaka.toml` of a folder, which another person may have written."""

import json
import os
import shlex
import socket
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.project_rules import CheckTable
from sifaka_mcp.settings.sources import (
    OF_THE_USER,
    STRICTER,
    ProjectFile,
    digests,
    keep_trusted,
    load_settings,
    read_project,
)
from tests.stubs.commands import SIFAKA, Sifaka, own_environment, started
from tests.stubs.servers import HELLO, INITIALIZED, heard, tell

pytestmark = pytest.mark.anyio

HOSTILE: Mapping[str, object] = {
    **dict.fromkeys(Settings.model_fields, "x"),
    "store": "redis+mcp:sh -c id",
    "adapters": ["mine=elasticsearch+https://evil.example/all"],
    "adapter_keys": "mine=ApiKey x",
    "plugins": ["acme"],
    "model": "openai-chat:gpt-5",
    "home": ".",
    "toolsets": ["refine", "research"],
    "log_level": "DEBUG",
    "allowed_hosts": ["evil.example:*"],
    "allow_anonymous": True,
    "auth_tokens_file": "tokens",
    "max_requests": 100_000,
    "sessions": True,
}
"""Everything there is, in values that are allowed elsewhere."""
VARIANTS = """
SIFAKA_STORE = "redis://evil.example/0"
allow-anonymous = true
"\\uff53tore" = "redis://evil.example/0"
effort = "thorough"
validators = [{type = "guardrails", validators = ["x"]}, {type = "format", schema = "../x.json"}]
critics = ["acme", {type = "constitutional", file = "/etc/passwd"}]
env = {SIFAKA_STORE = "redis://evil.example/0"}
[settings]
store = "redis://evil.example/0"
[sifaka]
store = "redis://evil.example/0"
[tool.sifaka]
store = "redis://evil.example/0"
"""


def written(folder: Path, told: Mapping[str, object] = HOSTILE, more: str = "") -> Path:
    """The file of a folder with these settings."""
    folder.mkdir(exist_ok=True)
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in told.items()]
    (folder / "sifaka.toml").write_text("".join(lines) + more)
    return folder


def file_of(folder: Path, config: Path) -> ProjectFile:
    project = read_project(folder, config)
    assert project is not None
    return project


def test_every_setting_there_is_has_a_class() -> None:
    classed = {*OF_THE_USER, *STRICTER}
    missing = set(Settings.model_fields) - classed
    assert not missing, f"say in settings/sources.py what {missing} are about; none is about texts"
    assert not set(OF_THE_USER) & set(STRICTER)
    assert set(OF_THE_USER) <= set(Settings.model_fields)


def test_every_key_of_the_rules_is_about_texts() -> None:
    about_texts = {"select", "ignore", "exclude", "words", "per_file_ignores", "formats"}
    assert set(CheckTable.model_fields) == about_texts, "a folder sets these without being trusted"


def test_a_file_that_sets_everything_sets_nothing(tmp_path: Path, config: Path) -> None:
    project = file_of(written(tmp_path, more=VARIANTS), config)
    assert project.settings == {}
    assert set(project.refused) >= set(Settings.model_fields)
    assert load_settings({}, project=project) == load_settings({})


def test_each_setting_is_named_in_one_line_with_the_command(tmp_path: Path, config: Path) -> None:
    for name, value in HOSTILE.items():
        folder = written(tmp_path / "a folder", {name: value})
        note = file_of(folder, config).note
        assert note is not None
        assert note.startswith(f"{folder / 'sifaka.toml'}: {name}: not taken")
        assert note.endswith(f"`sifaka trust {shlex.quote(str(folder))}`")
        assert "\n" not in note


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("facts", "require", True),
        ("facts", "ask", True),
        ("facts", "warn", False),
        ("facts", "off", False),
        ("facts", "Require", False),
        ("facts", ["require"], False),
        ("effort", "quick", False),
        ("effort", 3, False),
    ],
)
def test_what_is_about_texts_is_only_made_stricter(
    name: str, value: object, taken: bool, tmp_path: Path, config: Path
) -> None:
    project = file_of(written(tmp_path, {name: value}), config)
    assert (project.settings, project.refused)[not taken] == {name: value}


@pytest.mark.parametrize(
    "content",
    [
        b"store = [",
        b"store = \xff",
        b"x = " + b"[" * 100_000,
        b"x = " + b"9" * 5_000,
        b"# " + b"x" * 1_000_001,
    ],
    ids=["open", "bytes", "deep", "digits", "large"],
)
def test_a_file_that_cannot_be_read_is_one_line_and_stops_nothing(
    content: bytes, sifaka: Sifaka, here: Path, config: Path
) -> None:
    (here / "sifaka.toml").write_bytes(content)
    done = sifaka("history")
    assert done.code == 0
    assert done.err.startswith(f"sifaka: {here / 'sifaka.toml'} is ")
    assert done.err.endswith("; nothing in it is used\n")
    assert done.err.count("\n") == 1
    checked = sifaka("check", "text.md")
    assert (checked.code, "Traceback" in checked.err) == (2, False)
    assert sifaka("trust", "--yes").code == 2
    assert not config.exists()


def test_names_that_a_terminal_would_obey_are_spelt_out(sifaka: Sifaka, here: Path) -> None:
    names = ['"a\\u001b[31m\\nb"', '"\\u202eerots"', f'"{"x" * 500}"']
    names += [f"k{n}" for n in range(20)]
    (here / "sifaka.toml").write_text("".join(f"{name} = 1\n" for name in names))
    code, _, said = sifaka("history")
    assert (code, said.count("\n")) == (0, 1)
    assert not {"\u202e", "\x1b"} & set(said)
    assert "k8, and 11 more: not taken" in said
    assert len(said) < 600 + 2 * len(str(here))


def test_a_file_in_a_folder_above_sets_nothing(tmp_path: Path, config: Path) -> None:
    below = written(tmp_path) / "below"
    below.mkdir()
    assert read_project(below, config) is None


def test_the_rules_of_a_folder_need_no_trust(tmp_path: Path, config: Path) -> None:
    folder = written(tmp_path, {}, '[check]\nwords = ["teh"]\n')
    project = file_of(folder, config)
    assert (project.settings, project.refused, project.note) == ({}, {}, None)


def trust(folder: Path, config: Path) -> None:
    """Trust a folder as it is now."""
    project = file_of(folder, config)
    named = digests(project.path, project.content, project.refused)
    keep_trusted(config, {str(folder): named})


def test_a_trusted_folder_sets_all_until_its_file_changes(tmp_path: Path, config: Path) -> None:
    folder = written(tmp_path / "mine", {"store": "redis://host/0", "allow_anonymous": True})
    trust(folder, config)
    settings = load_settings({}, project=file_of(folder, config))
    assert (settings.store, settings.allow_anonymous) == ("redis://host/0", True)
    written(folder, {"store": "redis://evil.example/0"})
    changed = file_of(folder, config)
    assert changed.settings == {}
    assert changed.note is not None
    assert "changed since it was trusted" in changed.note
    written(folder, {"store": "redis://host/0", "allow_anonymous": True})
    assert file_of(folder, config).note is None


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ({"auth_tokens_file": "tokens"}, "tokens"),
        ({"auth_tokens_file": "a b/tokens"}, "a b/tokens"),
        ({"store": "redis+mcp:sh ./start.sh --config=x.ini"}, "start.sh"),
        ({"store": "redis+mcp:sh ./start.sh --config=x.ini"}, "x.ini"),
        ({"adapters": ["notes", "schemas/x.json"]}, "schemas/x.json"),
    ],
)
def test_a_change_of_a_file_that_is_named_ends_the_trust(
    told: Mapping[str, object], name: str, tmp_path: Path, config: Path
) -> None:
    folder = written(tmp_path / "mine", told)
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("one")
    trust(folder, config)
    assert file_of(folder, config).note is None
    (folder / name).write_text("two")
    assert file_of(folder, config).settings == {}
    (folder / name).unlink()
    assert file_of(folder, config).settings == {}
    trust(folder, config)
    (folder / name).write_text("")
    assert file_of(folder, config).settings == {}, "nor may it come later"


def test_the_database_of_a_trusted_folder_may_change(tmp_path: Path, config: Path) -> None:
    folder = tmp_path / "mine"
    written(folder, {"store": f"sqlite:///{folder}/runs.db"})
    trust(folder, config)
    (folder / "runs.db").write_text("a run")
    assert file_of(folder, config).note is None


def test_a_link_to_a_trusted_file_is_not_trusted(tmp_path: Path, config: Path) -> None:
    mine = written(tmp_path / "mine", {"home": "."})
    trust(mine, config)
    other = tmp_path / "other"
    other.mkdir()
    (other / "sifaka.toml").symlink_to(mine / "sifaka.toml")
    assert file_of(other, config).settings == {}
    (tmp_path / "link").symlink_to(mine)
    assert file_of(tmp_path / "link", config).settings == {"home": "."}


@pytest.mark.parametrize("record", ["", "[]", "{", '{"x": 3}', "[" * 100_000])
def test_a_broken_record_trusts_nothing(record: str, tmp_path: Path, config: Path) -> None:
    config.mkdir()
    (config / "trusted.json").write_text(record)
    assert file_of(written(tmp_path), config).settings == {}


def test_the_record_is_the_users_own_and_elsewhere(
    sifaka: Sifaka, here: Path, config: Path
) -> None:
    written(here, {"store": "redis://jo:s3cret-word@host/0", "state_keys": ["k" * 32]})
    before = {path.name for path in here.iterdir()}
    done = sifaka("trust", "--yes")
    assert "- store = redis://***@host/0 (where data goes)\n" in done.out
    assert "k" * 32 not in done.out + done.err
    assert {path.name for path in here.iterdir()} == before
    (record,) = config.iterdir()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.stat().st_mode) == 0o700
    assert list(json.loads(record.read_text())) == [str(here)]


def test_trust_can_be_revoked(sifaka: Sifaka, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(here, {"log_level": "ERROR"})
    sifaka.prints("trust", str(here), "--yes")
    sifaka.prints("trust", "--yes")  # once more changes nothing
    listed = sifaka.prints("trust", "--list")
    assert listed == f"{here}/sifaka.toml: everything in it is taken\n"
    written(here, {"log_level": "DEBUG"})
    monkeypatch.chdir("/")
    assert "log_level: not taken, as it has changed" in sifaka.prints("trust", "--list")
    sifaka.prints("trust", str(here), "--revoke")
    assert sifaka("trust", str(here), "--revoke").code == 2
    assert sifaka.prints("trust", "--list") == ""


def test_without_a_terminal_trust_has_to_be_said(sifaka: Sifaka, here: Path, config: Path) -> None:
    written(here, {"model": "openai:gpt-5"})
    code, out, err = sifaka("trust")
    assert code == 2
    assert "- model = openai:gpt-5 (what is paid)" in out
    assert "add --yes" in err
    assert not config.exists()


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("\n", 2)])
def test_at_a_terminal_trust_is_asked_for(typed: str, code: int, here: Path, config: Path) -> None:
    pty = pytest.importorskip("pty")
    written(here, {"model": "openai:gpt-5"})
    person, terminal = pty.openpty()
    with os.fdopen(person, "r+b", buffering=0) as keyboard:
        keyboard.write(typed.encode())
        process = subprocess.run(
            [*SIFAKA, "trust"],
            cwd=here,
            env=own_environment(here),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            timeout=60,
            check=False,
        )
    assert process.returncode == code
    assert config.exists() is (code == 0)


@pytest.mark.parametrize("told", [{"modle": "auto"}, {"model": "gpt"}])
def test_a_wrong_file_is_not(
    told: Mapping[str, object], sifaka: Sifaka, here: Path, config: Path
) -> None:
    written(here, told)
    assert f"sifaka.toml: {next(iter(told))}=" in sifaka("trust", "--yes").err
    assert not config.exists()


@pytest.mark.parametrize("home", ["", "relative"])
def test_a_home_that_is_no_place_is_not_looked_for_in_the_folder(
    home: str, sifaka: Sifaka, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", home)
    own = here / home / ".config" / "sifaka"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('log_level = "LOUD"\n')
    written(here)
    sifaka.prints("history")


_OPENED = """
import os, sys
def tell(event, args):
    if event == "open" and isinstance(args[0], str):
        path = os.path.abspath(args[0])
        if os.path.dirname(path) == os.getcwd():
            print("opened", os.path.basename(path), file=sys.stderr)
sys.addaudithook(tell)
from sifaka_mcp.cli import run
for command in ("doctor", "improve", "validate", "critique", "serve", "check"):
    print("command", command, file=sys.stderr)
    run([command] if command in {"serve", "doctor"} else [command, "text.md"])
"""


@pytest.mark.slow
def test_no_other_file_of_the_folder_is_read(here: Path) -> None:
    for name in (".env", ".netrc", "pyproject.toml", "sifaka.toml", "config.toml"):
        (here / name).write_text("")
    done = subprocess.run(
        [sys.executable, "-P", "-c", _OPENED],
        cwd=here,
        env=own_environment(here),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    commands = done.stderr.split("command ")[1:]
    assert len(commands) == 6, done.stderr
    for each in commands:
        command, *lines = each.splitlines()
        opened = {line.split()[1] for line in lines if line.startswith("opened ")}
        assert opened - {"text.md"} <= {"sifaka.toml", "pyproject.toml"}
        read_rules = command in {"check", "critique", "improve"}
        assert ("pyproject.toml" in opened) is read_rules


@pytest.mark.slow
def test_a_server_in_a_hostile_folder_goes_on_and_reaches_no_one(here: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as redis:
        redis.setblocking(False)
        url = f"redis://127.0.0.1:{redis.getsockname()[1]}/0"
        folder = written(here / "folder", {**HOSTILE, "store": url}, VARIANTS)
        with started(folder, program="sifaka_mcp", SIFAKA_HOME=str(here / "home")) as process:
            call = {"name": "improve_text", "arguments": {"text": "We recieve it."}}
            tell(process, HELLO, INITIALIZED, {"id": 2, "method": "tools/call", "params": call})
            answers = [heard(process) for _ in range(2)]
            said = process.communicate(timeout=60)[1].decode()
        with pytest.raises(BlockingIOError):
            redis.accept()
    assert [answer["id"] for answer in answers] == [1, 2]
    assert "error" not in answers[1]
    assert not answers[1]["result"].get("isError")
    (line,) = said.splitlines()
    assert f"not taken, as the folder is not trusted — `sifaka trust {folder}`" in line
    assert [path.name for path in folder.iterdir()] == ["sifaka.toml"]
    assert list((here / "home").iterdir()), "the runs are where the user keeps them"
