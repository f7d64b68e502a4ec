"""`sifaka install`: writes the server into the configuration of a host, and takes it out again.

The files belong to people: an edit touches the one entry, and what a reader of the format makes of
the rest must be the same before and after.
"""

import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from sifaka.errors import ConfigurationError
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.document import replace_file
from sifaka_mcp.cli.process import print_lines, say
from sifaka_mcp.cli.session import Session
from sifaka_mcp.settings.sources import parse_json, parse_yaml, plain_json

NAME = "sifaka"
"""Of the server, in each host."""
Data = dict[str, Any]


class Host(NamedTuple):
    """Where a host keeps its servers, and in which form."""

    file: str
    project: str | None = None
    key: str = "mcpServers"
    form: str = '{"command": COMMAND, "args": []}'
    """An entry as JSON, with COMMAND in the place of the program."""


HOSTS: Mapping[str, Host] = MappingProxyType(
    {
        "claude-desktop": Host("{app}/Claude/claude_desktop_config.json"),
        "claude-code": Host("{home}/.claude.json", ".mcp.json"),
        "cursor": Host("{home}/.cursor/mcp.json", ".cursor/mcp.json"),
        "vscode": Host(
            "{app}/Code/User/mcp.json", ".vscode/mcp.json", "servers",
            '{"type": "stdio", "command": COMMAND, "args": []}',
        ),
        "codex": Host("{codex}/config.toml", ".codex/config.toml", "mcp_servers"),
        "gemini": Host("{home}/.gemini/settings.json", ".gemini/settings.json"),
        "zed": Host("{zed}/settings.json", ".zed/settings.json", "context_servers"),
        "windsurf": Host("{home}/.codeium/windsurf/mcp_config.json"),
        "cline": Host(
            "{app}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
        ),
        "jetbrains": Host("{home}/.junie/mcp/mcp.json", ".junie/mcp/mcp.json"),
        "goose": Host(
            "{goose}/config.yaml", None, "extensions",
            '{"name": "sifaka", "type": "stdio", "cmd": COMMAND, "args": [], "enabled": true,'
            ' "timeout": 300}',
        ),
        "opencode": Host(
            "{config}/opencode/opencode.json", "opencode.json", "mcp",
            '{"type": "local", "command": [COMMAND], "enabled": true}',
        ),
    }
)  # fmt: skip


def configuration_file(host: str, platform: str, env: Mapping[str, str], home: Path) -> Path:
    """The file of a user in which a host has its servers.

    Args:
        host: A name of `HOSTS`.
        platform: As `sys.platform` says it.
        env: The environment, in which a host or the system may name other folders.
        home: The user's folder.
    """
    config = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    roaming = env.get("APPDATA") or f"{home}/AppData/Roaming"
    on_windows = platform == "win32"
    app = f"{home}/Library/Application Support" if platform == "darwin" else config
    return Path(
        HOSTS[host].file.format(
            home=home,
            config=config,
            app=roaming if on_windows else app,
            codex=env.get("CODEX_HOME") or f"{home}/.codex",
            zed=f"{roaming}/Zed" if on_windows else f"{config}/zed",
            goose=f"{roaming}/Block/goose/config" if on_windows else f"{config}/goose",
        )
    )


@opt.command(
    opt.argument(
        "host", nargs="?", choices=tuple(HOSTS), help="without one, those here are listed"
    ),
    opt.argument("--project", action="store_true", help="for the project in this folder alone"),
    opt.either(
        opt.argument("--print", action="store_true", help="print the entry, and write nothing"),
        opt.argument("--remove", action="store_true", help="take the entry out"),
    ),
)
def install(session: Session) -> int:
    """Write, print or remove the entry of a host.

    Raises:
        ConfigurationError: The host has no file for a project, or its file is broken.
    """
    options, home = session.options, Path.home()
    files = {name: configuration_file(name, sys.platform, os.environ, home) for name in HOSTS}
    if options.host is None:
        # A host is here when its file is, or a folder of its own for it.
        print_lines(
            f"{name}: {file}"
            for name, file in files.items()
            if file.exists() or (file.parent.is_dir() and file.parent != home)
        )
        say("`sifaka install HOST` writes the server into the file of one of them")
        return 0
    host = HOSTS[options.host]
    if options.project and host.project is None:
        raise ConfigurationError(f"{options.host} has no file for a project", "leave --project out")
    path = Path(host.project or "").absolute() if options.project else files[options.host]
    command = json.dumps(str(Path(sys.executable).with_name("sifaka-mcp")))
    entry: Data = json.loads(host.form.replace("COMMAND", command))
    if options.print:
        print_lines([edited("", path.suffix, host.key, entry).rstrip()])
        say(f"it belongs into {path}")
        return 0
    try:
        # Its bytes: line ends are kept as they are.
        before = path.read_bytes().decode("utf-8") if path.exists() else ""
        after = edited(before, path.suffix, host.key, None if options.remove else entry)
        if after != before:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(str(path.resolve()), after.encode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{path}: {error}", "it was left as it is; mend it, or see --print"
        ) from None
    if after == before:
        say(f"{path} is as it should be")
    else:
        say(f"{'removed from' if options.remove else 'written into'} {path}; restart the host")
    return 0


def edited(text: str, suffix: str, key: str, entry: Data | None) -> str:
    """The text of a configuration with this entry of ours, or without any.

    What else an entry says already, such as its `env`, stays.

    Args:
        text: The file; empty for a new one.
        suffix: Its form: `.json`, which may have comments, `.toml` or `.yaml`.
        key: The table of servers.
        entry: Ours; None to have it removed.

    Raises:
        ValueError: The file is broken, or has a shape in which one entry cannot be changed alone.
    """
    read, write = _FORMS[suffix]
    others, servers = _split_servers(read(text), key)
    current = servers.get(NAME)
    if not isinstance(current, dict | None):
        raise ValueError(f"`{NAME}` in `{key}` is no table")
    if entry is not None:
        entry = {**cast("Data", current or {}), **entry}
    if entry == current:
        return text
    expected = {name: value for name, value in servers.items() if name != NAME}
    if entry is not None:
        expected[NAME] = entry
    after = write(text, key, entry)
    with suppress(ValueError):
        if _split_servers(read(after), key) == (others, expected):
            return after
    raise ValueError(f"its `{key}` is written in a way that is left alone")


def _split_servers(data: Data, key: str) -> tuple[Data, Data]:
    """What a configuration says beside the table of servers, and that table."""
    if not isinstance(cast("object", data), dict):
        raise ValueError("it is no object")
    servers: object = data.get(key)
    if not isinstance(servers, dict | None):
        raise ValueError(f"`{key}` is no table of servers")
    return {k: v for k, v in data.items() if k != key}, cast("Data", servers or {})


# --- JSON with comments ---


_KEY = re.compile(r'[\s,]*("(?:\\.|[^"\\])*")\s*:\s*')
_NOWHERE = (0, 0, 0)


def _find_members(plain: str, at: int) -> Mapping[str, tuple[int, int, int]]:
    """Of the object that begins there: where each key begins, and its value begins and ends."""
    members: dict[str, tuple[int, int, int]] = {}
    at += 1
    while key := _KEY.match(plain, at):
        _, at = json.JSONDecoder().raw_decode(plain, key.end())
        members[json.loads(key[1])] = key.start(1), key.end(), at
    return members


def _write_json(text: str, key: str, entry: Data | None) -> str:
    if not plain_json(text).strip():
        text = text.lstrip() + "{}\n"
    plain = plain_json(text)
    top = plain.index("{")
    _, table, _ = _find_members(plain, top).get(key, _NOWHERE)
    key_at, start, end = _find_members(plain, table).get(NAME, _NOWHERE) if table else _NOWHERE
    if entry is None:
        head, tail = text[:key_at].rstrip(), text[end:]
        comma = re.match(r"\s*,", tail)
        return head + tail[comma.end() :] if comma else head.removesuffix(",") + tail
    if end:
        return text[:start] + _dump_json(entry, 2) + text[end:]
    if table:
        return _insert_member(text, table + 1, NAME, entry, 2)
    return _insert_member(text, top + 1, key, {NAME: entry}, 1)


def _insert_member(text: str, at: int, name: str, value: Data, depth: int) -> str:
    """The text with a first member in the object that begins there."""
    is_empty = re.match(r"\s*\}", text[at:])
    end = "\n" + "  " * (depth - 1) if is_empty else ","
    rest = text[at:].lstrip() if is_empty else text[at:]
    return f'{text[:at]}\n{"  " * depth}"{name}": {_dump_json(value, depth)}{end}{rest}'


def _dump_json(value: Data, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * depth)


# --- TOML and YAML ---


def _write_toml(text: str, key: str, entry: Data | None) -> str:
    name = rf'\[{key}\.(?:{NAME}|"{NAME}")'
    rest = r"[ \t]*(?:#[^\n]*)?(?:\n(?!\[)[^\n]*)*\n?"
    if entry is None:  # with the tables inside it
        return re.sub(rf"^{name}(?:\.[^\n\]]*)?\]{rest}", "", text, flags=re.MULTILINE)
    lines = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}"
        for name, value in entry.items()
        if not isinstance(value, dict)
    ]
    table = "\n".join((f"[{key}.{NAME}]", *lines)) + "\n"
    pattern = re.compile(rf"^{name}\]{rest}", re.MULTILINE)
    if pattern.search(text):
        return pattern.sub(lambda _: f"{table}\n", text, count=1)
    return f"{text.rstrip()}\n\n{table}".lstrip()


def _write_yaml(text: str, key: str, entry: Data | None) -> str:
    text = re.sub(rf"^  {NAME}:[^\n]*\n(?:   [^\n]*(?:\n|\Z))*", "", text, flags=re.MULTILINE)
    if entry is None:
        return text
    lines = [f"    {name}: {json.dumps(value)}" for name, value in entry.items()]
    block = "\n".join((f"  {NAME}:", *lines)) + "\n"
    table = re.compile(rf"^{key}:[ \t]*(?:\{{\}})?[ \t]*(?:\n|\Z)", re.MULTILINE)
    if table.search(text):
        return table.sub(lambda _: f"{key}:\n{block}", text, count=1)
    return f"{text.rstrip()}\n{key}:\n{block}".lstrip()


_FORMS: Mapping[str, tuple[Callable[[str], Data], Callable[[str, str, Data | None], str]]] = {
    ".json": (parse_json, _write_json),
    ".toml": (tomllib.loads, _write_toml),
    ".yaml": (parse_yaml, _write_yaml),
}
