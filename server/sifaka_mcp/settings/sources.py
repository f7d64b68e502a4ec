"""Reads the settings, once: flags over environment over `sifaka.toml` over the user's own file.

What the `sifaka.toml` of a folder may set is how texts are checked, and nothing else. Hosts start
servers in the folder that is being worked on, and who made that folder is not known. So there is a
list of what is taken; the rest is left out and named, until the user trusts the folder. Which ones
that are, and with which files, is kept outside of them.
"""

import errno
import hashlib
import json
import os
import re
import shlex
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.masking import conceal, passwords_in, secrets_in
from sifaka._internal.naming import closest
from sifaka._internal.safe_open import read_beneath
from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import secrets_of
from sifaka.record.entries import Facts
from sifaka_mcp.safe_text import parts_of
from sifaka_mcp.settings import Settings

OWN_FILE = "config.toml"
"""In the user's own folder of configuration; it may set everything."""
_SECRET = frozenset({"store", "state_keys", "adapters", "adapter_keys"})
"""Settings with values that errors do not repeat: a reason names a URL as far as it may."""
FILE = "sifaka.toml"
TABLES = frozenset({"check"})
"""Of texts alone, and read by others: `[check]` holds the rules of `sifaka check`."""
STRICTER: Mapping[str, tuple[Facts, ...]] = MappingProxyType({"facts": ("ask", "require")})
"""Settings about texts, each with the values that are stricter than its default: any folder may set
these."""
OF_THE_USER: Mapping[str, str] = MappingProxyType(
    {
        name: concern
        for concern, names in {
            "where data goes": "store adapters adapter_keys embedding_model home tenant log_level "
            "log_format access_log",
            "what is run": "plugins toolsets read_only takeover_seconds",
            "who may enter": "public_url allowed_hosts cors_origins trusted_proxies rate_limit "
            "allow_anonymous auth_tokens_file oauth_issuer oauth_audience oauth_jwks_url "
            "oauth_scopes state_keys max_requests max_body_bytes sessions max_sessions "
            "session_seconds",
            "what is paid": "model judge_model fallback_models call_seconds max_runs tenant_budget",
        }.items()
        for name in names.split()
    }
)
"""The other settings, with what each of them is about."""
_MOST_NAMES = 12
_LONGEST_NAME = 40
Trusted = Mapping[str, Mapping[str, str]]
"""By folder: the files, by what they are called there, and the SHA-256 of each."""
_RECORD = "trusted.json"
_SEPARATORS = re.compile(r"[\s,=:'\"]+")
"""Between the parts of a value, any of which may be a file: `redis+mcp:sh ./start.sh -c x.ini`."""
_MOST = 1_000_000
"""Bytes of a file."""
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){32}""")
"""A key of more than 32 parts: the parser's time grows with the square of their number."""


def load_settings(
    environ: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
    *,
    project: "ProjectFile | None" = None,
    config: Path | None = None,
    wrong: list[str] | None = None,
) -> Settings:
    """The settings of this process.

    Args:
        environ: The environment; an empty value counts as absent.
        flags: What the command line says; None values, and what is no setting, count as absent.
        project: The file of the folder that is worked in.
        config: The user's own folder of configuration.
        wrong: Takes the line about each wrong value, which is then left out.

    Raises:
        ConfigurationError: A value is wrong: names the flag, variable or file, the value and what
            is allowed.
    """
    conceal(secrets_in(environ))
    names = {name: f"SIFAKA_{name.upper()}" for name in Settings.model_fields}
    own_path = config / OWN_FILE if config else None
    has_own = own_path is not None and os.path.isfile(own_path)  # noqa: PTH113 - a Path raises where a folder may not be read
    in_own = parse_toml(own_path, read_content(own_path)) if own_path and has_own else {}
    in_project: Mapping[str, Any] = project.settings if project else {}
    in_environ = {name: environ[v] for name, v in names.items() if environ.get(v)}
    in_flags = {name: v for name, v in (flags or {}).items() if name in names and v is not None}
    merged = {**in_own, **in_project, **in_environ, **in_flags}
    conceal(passwords_in(f"{merged.get('store')} {merged.get('adapters')}"))
    conceal(secrets_of(str(merged.get("adapter_keys") or "")))

    while True:
        try:
            return Settings.model_validate(merged)
        except ValidationError as error:
            name = str(error.errors()[0]["loc"][0])
            file = project.path if project and name in in_project else own_path
            where = f"{file}: {name}"
            if name in in_flags:
                where = f"--{name.replace('_', '-')}"
            elif name in in_environ:
                where = names[name]
            value = "" if name in _SECRET else f"={merged.get(name)!r}"
            message = f"{where}{value}: {explain(error).removeprefix(f'{name}: ')}"
            if wrong is None:
                raise ConfigurationError(message) from error
            wrong.append(message)
            del merged[name]


def unknown_names(environ: Mapping[str, str]) -> list[str]:
    """A line for each variable that is named like a setting and is none."""
    variables = [f"SIFAKA_{name.upper()}" for name in Settings.model_fields]
    return [
        f"{name} is no setting"
        + (f"; did you mean {near}?" if (near := closest(name, variables)) else "")
        for name in sorted(environ)
        if name.startswith("SIFAKA_") and name not in variables
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """The file of a folder, and what is taken from it."""

    path: Path
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it sets."""
    refused: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What it does not set, as the folder is not trusted."""
    note: str | None = None
    """One line about what was left out; None when nothing was."""
    content: bytes = b""
    """The file itself, where something was left out."""


def read_project(folder: Path, config: Path) -> ProjectFile | None:
    """The file of a folder; None without one.

    A file that cannot be read sets nothing, and stops nothing.

    Args:
        folder: The folder.
        config: The user's own folder of configuration, which names the trusted folders.
    """
    path = canonical(folder) / FILE
    if not os.path.isfile(path):  # noqa: PTH113 - a Path raises for a name that is too long
        return None
    try:
        content = read_content(path)
        values = parse_toml(path, content)
    except ConfigurationError as error:
        return ProjectFile(path=path, note=f"{error.message}; nothing in it is used")
    values = {name: value for name, value in values.items() if name not in TABLES}
    taken = {name: value for name, value in values.items() if value in STRICTER.get(name, ())}
    refused = {name: value for name, value in values.items() if name not in taken}
    trusted = trusted_folders(config).get(str(path.parent))
    if trusted is not None and trusted == digests(path, content, refused):
        return ProjectFile(path=path, settings=values)
    why = "the folder is not trusted" if trusted is None else "it has changed since it was trusted"
    note = f"{path}: {_join_names(refused)}: not taken, as {why} — `{command(path.parent)}`"
    return ProjectFile(
        path=path,
        settings=taken,
        refused=refused,
        content=content,
        note=note if refused else None,
    )


def canonical(folder: Path) -> Path:
    """The one path of a folder, without links."""
    return Path(os.path.realpath(folder))


def command(folder: Path) -> str:
    """The command that trusts a folder, for a shell."""
    return f"sifaka trust {shlex.quote(str(folder))}"


def _join_names(settings: Mapping[str, object]) -> str:
    """The names on one line, whatever was written for a name."""
    names = [name if name.isascii() and name.isidentifier() else ascii(name) for name in settings]
    left = [f"and {len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join([*(name[:_LONGEST_NAME] for name in names[:_MOST_NAMES]), *left])


def trusted_folders(config: Path) -> Trusted:
    """The folders by their canonical paths; none when the record cannot be read."""
    try:
        record: object = json.loads((config / _RECORD).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("Trusted", record) if isinstance(record, dict) else {}


def keep_trusted(config: Path, trusted: Trusted) -> None:
    """Replace the record, which only the user may read and write.

    Raises:
        ConfigurationError: It cannot be written.
    """
    try:
        config.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=config, delete=False) as file:  # of mode 600
            json.dump(trusted, file, indent=1)
        os.replace(file.name, config / _RECORD)  # noqa: PTH105 - as short as can be
    except OSError as error:
        raise ConfigurationError(
            f"{config / _RECORD} cannot be written: {error.strerror}", "check the rights on it"
        ) from error


def digests(path: Path, content: bytes, values: object) -> Mapping[str, str]:
    """The SHA-256 of a file with settings, and of each file that a value in it names.

    The content of a folder that it names is not read, nor is the file of a store.
    """
    strings = (part for *_, part in parts_of(values) if isinstance(part, str))
    named = {word for value in strings for word in (value, *_SEPARATORS.split(value))}
    return {path.name: hashlib.sha256(content).hexdigest()} | {
        word: _digest_of(path.parent / word)
        for word in sorted(named)
        # `//` begins the part of a URL, such as the path of a database, which always changes.
        if not word.startswith("//") and os.path.isfile(path.parent / word)  # noqa: PTH113 - a Path raises for a name that is too long
    }


def _digest_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return str(error.strerror)


def read_content(path: Path, root: Path | None = None) -> bytes:
    """The bytes of a file of at most a megabyte.

    Args:
        path: The file.
        root: The folder that it must lie in, links followed; None allows every place.

    Raises:
        ConfigurationError: It cannot be read, is no regular file, or is too large for a
            configuration.
    """
    try:
        return read_beneath(path, _MOST, root)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ConfigurationError(f"{path} is larger than a megabyte") from error
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error


def parse_toml(path: Path, content: bytes) -> dict[str, Any]:
    """What the content of a file says.

    Raises:
        ConfigurationError: It is not TOML.
    """
    try:
        text = content.decode("utf-8")
        if _LONG_KEY.search(text):
            raise ValueError("a key has more than 32 parts")
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a plain ValueError
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ConfigurationError(
            f"{path} is not valid TOML: {reason}", "correct the file"
        ) from error


_UNWANTED = tuple(
    re.compile(rf'("(?:\\.|[^"\\\n])*")|{each}', re.DOTALL)
    for each in (r"//[^\n]*|/\*.*?\*/", r",(?=\s*[}\]])")
)
"""Comments, and then commas too many, beside strings that may look so."""


def parse_json(text: str) -> Any:
    """What a text says that is JSON, with comments and commas too many; an empty object for none.

    Raises:
        ValueError: It is not.
    """
    plain = plain_json(text)
    return json.loads(plain) if plain.strip() else {}


def plain_json(text: str) -> str:
    """The text with spaces in the place of comments and of commas too many."""
    for unwanted in _UNWANTED:
        text = unwanted.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
    return text


def parse_yaml(text: str) -> Any:
    """What a text says that is YAML; an empty mapping for none.

    Raises:
        ValueError: It is not.
    """
    import yaml

    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None
