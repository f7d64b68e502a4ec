"""`sifaka install`: the entry of the server in the files of hosts, and nothing else."""

import json
import stat
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from sifaka_mcp.cli import run
from sifaka_mcp.cli.install import HOSTS, configuration_file, edited
from tests.stubs.commands import Sifaka

PROGRAM = str(Path(sys.executable).with_name("sifaka-mcp"))
ENTRY: dict[str, object] = {"command": "/bin/sifaka-mcp", "args": []}
COMMENTED = """\
{
  // my theme, "mcpServers": {} in a comment
  "theme": "One // Dark",
  "context_servers": {
    "other": { "command": "x", "args": ["{", "}"] }, /* the last one */
  },
}
"""
HOME = Path("/home/ada")
PATHS = {
    "linux": {
        "claude-desktop": ".config/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "cursor": ".cursor/mcp.json",
        "vscode": ".config/Code/User/mcp.json",
        "codex": ".codex/config.toml",
        "gemini": ".gemini/settings.json",
        "zed": ".config/zed/settings.json",
        "windsurf": ".codeium/windsurf/mcp_config.json",
        "cline": ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/"
        "cline_mcp_settings.json",
        "jetbrains": ".junie/mcp/mcp.json",
        "goose": ".config/goose/config.yaml",
        "opencode": ".config/opencode/opencode.json",
    },
    "darwin": {
        "claude-desktop": "Library/Application Support/Claude/claude_desktop_config.json",
        "vscode": "Library/Application Support/Code/User/mcp.json",
        "zed": ".config/zed/settings.json",
        "goose": ".config/goose/config.yaml",
    },
    "win32": {
        "claude-desktop": "AppData/Roaming/Claude/claude_desktop_config.json",
        "vscode": "AppData/Roaming/Code/User/mcp.json",
        "zed": "AppData/Roaming/Zed/settings.json",
        "goose": "AppData/Roaming/Block/goose/config/config.yaml",
    },
}


@pytest.mark.parametrize(
    ("platform", "host", "path"),
    [(platform, host, path) for platform, told in PATHS.items() for host, path in told.items()],
)
def test_the_file_of_a_host_is_where_it_documents_it(platform: str, host: str, path: str) -> None:
    assert configuration_file(host, platform, {}, HOME) == HOME / path


def test_every_host_has_its_file_told() -> None:
    assert PATHS["linux"].keys() == HOSTS.keys()


def test_the_environment_names_other_folders() -> None:
    env = {"XDG_CONFIG_HOME": "/etc/ada", "CODEX_HOME": "/srv/codex", "APPDATA": "/roaming"}
    assert configuration_file("zed", "linux", env, HOME) == Path("/etc/ada/zed/settings.json")
    assert configuration_file("codex", "darwin", env, HOME) == Path("/srv/codex/config.toml")
    assert configuration_file("zed", "win32", env, HOME) == Path("/roaming/Zed/settings.json")


@pytest.fixture
def home(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.setattr(sys, "platform", "linux")
    (here / "text.md").unlink()
    return here


@pytest.mark.parametrize("host", HOSTS)
def test_an_entry_is_written_once_and_taken_out(sifaka: Sifaka, home: Path, host: str) -> None:
    path = configuration_file(host, "linux", {}, home)
    sifaka.prints("install", host)
    first = path.read_text(encoding="utf-8")
    read = {".json": json.loads, ".toml": tomllib.loads, ".yaml": yaml.safe_load}[path.suffix]
    told = read(first)[HOSTS[host].key]["sifaka"]
    assert PROGRAM in (told.get("command"), told.get("cmd"), *(told.get("command") or ()))
    again = sifaka("install", host)
    assert (again.code, path.read_text(encoding="utf-8")) == (0, first)
    assert "is as it should be" in again.err
    sifaka.prints("install", host, "--remove")
    assert "sifaka" not in path.read_text(encoding="utf-8")


def test_a_project_has_a_file_of_its_own(home: Path) -> None:
    assert run(["install", "vscode", "--project"]) == 0
    told = json.loads((home / ".vscode/mcp.json").read_text(encoding="utf-8"))
    assert told == {"servers": {"sifaka": {"type": "stdio", "command": PROGRAM, "args": []}}}
    assert run(["install", "windsurf", "--project"]) == 2


def test_it_is_printed_where_nothing_is_to_be_written(sifaka: Sifaka, home: Path) -> None:
    told = tomllib.loads(sifaka.prints("install", "codex", "--print"))
    assert told["mcp_servers"]["sifaka"]["command"] == PROGRAM
    assert list(home.iterdir()) == []
    # Without a host those that are here are listed.
    (home / ".cursor").mkdir()
    (home / ".claude.json").write_text("{}", encoding="utf-8")
    hosts = [line.partition(":")[0] for line in sifaka.prints("install").splitlines()]
    assert hosts == ["claude-code", "cursor"]


def test_comments_and_everything_else_stay(home: Path) -> None:
    path = home / ".config/zed/settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(COMMENTED, encoding="utf-8")
    path.chmod(0o640)
    assert run(["install", "zed"]) == 0
    written = path.read_text(encoding="utf-8")
    start = written.index('\n    "sifaka"')
    end = written.index('\n    "other"')
    assert written[:start] + written[end:] == COMMENTED
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert run(["install", "zed", "--remove"]) == 0
    assert path.read_text(encoding="utf-8") == COMMENTED


def test_line_ends_stay(home: Path) -> None:
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    before = b'{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n'
    path.write_bytes(before)
    assert run(["install", "cursor"]) == 0
    assert run(["install", "cursor", "--remove"]) == 0
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_named(sifaka: Sifaka, home: Path) -> None:
    (home / ".cursor").write_text("a file", encoding="utf-8")
    assert f"{home / '.cursor/mcp.json'}: " in sifaka("install", "cursor").err


def test_a_link_stays_a_link(home: Path) -> None:
    kept = home / "dotfiles.json"
    kept.write_text("{}", encoding="utf-8")
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").symlink_to(kept)
    assert run(["install", "cursor"]) == 0
    assert (home / ".cursor/mcp.json").is_symlink()
    assert "sifaka" in json.loads(kept.read_text(encoding="utf-8"))["mcpServers"]


TOML = """\
# mine
model = "x"

[mcp_servers.sifaka]
command = "old"

[mcp_servers.sifaka.env]
K = "v"

[other]
a = 1
"""


@pytest.mark.parametrize(
    ("suffix", "key", "text"),
    [
        (".json", "servers", '{"servers": {"a": {}, "sifaka": {"env": {"K": "v"}}, "b": {}}}'),
        (".json", "servers", '{"servers": {"sifaka": {"args": ["x"], "env": {"K": "v"}}}}'),
        (".toml", "mcp_servers", TOML),
    ],
)
def test_what_else_an_entry_says_stays(suffix: str, key: str, text: str) -> None:
    read = {".json": json.loads, ".toml": tomllib.loads}[suffix]
    after = read(edited(text, suffix, key, ENTRY))
    assert after[key]["sifaka"] == {**ENTRY, "env": {"K": "v"}}
    assert {**after, key: None} == {**read(text), key: None}
    gone = read(edited(text, suffix, key, None))
    assert "sifaka" not in gone.get(key, {})
    assert {**gone, key: None} == {**read(text), key: None}


@pytest.mark.parametrize(
    ("suffix", "text", "told"),
    [
        (".json", '{\n  "a": 1\n  "b": 2\n}', "line 3"),
        (".json", "[]", "no object"),
        (".json", '{"servers": []}', "no table of servers"),
        (".json", '{"servers": {"sifaka": "x"}}', "no table"),
        (".yaml", "- a\n", "no object"),
        (".toml", "a = 1\nb =\n", "line 2"),
        (".toml", 'servers = {sifaka = {command = "x"}}\n', "left alone"),
        (".yaml", "a: [1\n", "line 2"),
        (".yaml", "servers: {a: {b: 1}}\n", "left alone"),
    ],
)
def test_a_file_of_another_shape_is_left_alone(suffix: str, text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        edited(text, suffix, "servers", ENTRY)


def test_a_broken_file_is_named_with_its_line(sifaka: Sifaka, home: Path) -> None:
    path = home / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {\n  oops\n}}', encoding="utf-8")
    done = sifaka("install", "cursor")
    assert done.code == 2
    assert "line 2" in done.err
    assert path.read_text(encoding="utf-8") == '{"mcpServers": {\n  oops\n}}'
