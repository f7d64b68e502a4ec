"""Reads the settings, once: flags over environment over `sifaka.toml`."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.masking import conceal, passwords_in, secrets_in
from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.keys import secrets_of
from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.toml import read_toml

_PROGRAM = re.compile(r"(?:^|,)\s*[^:,]*\+mcp:", re.IGNORECASE)
"""A tier of a store that is a program."""
_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "plugins": "what is to be run",
        "store": "what is to be run",
        "adapters": "what is searched",
        "adapter_keys": "with which keys",
    }
)


_SECRET = frozenset({"store", "state_keys", "adapters", "adapter_keys"})
"""Settings with values that errors do not repeat: a reason names a URL as far as it may."""


def load_settings(
    environ: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
) -> Settings:
    """The settings of this process.

    Args:
        environ: The environment; an empty value counts as absent.
        flags: What the command line says; None values count as absent.
        folder: Where `sifaka.toml` may lie.

    Raises:
        ConfigurationError: A value is wrong: names the flag, variable or file, the value and what
            is allowed.
    """
    conceal(secrets_in(environ))
    names = {name: f"SIFAKA_{name.upper()}" for name in Settings.model_fields}
    in_file, path = _read_file(folder)
    in_environ = {name: environ[v] for name, v in names.items() if environ.get(v)}
    in_flags = {name: v for name, v in (flags or {}).items() if v is not None}
    merged = {**in_file, **in_environ, **in_flags}
    conceal(passwords_in(f"{merged.get('store')} {merged.get('adapters')}"))
    conceal(secrets_of(str(merged.get("adapter_keys") or "")))
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        if name in in_flags:
            where = f"--{name.replace('_', '-')}"
        elif name in in_environ:
            where = names[name]
        else:
            where = f"{path}: {name}"
        reason = explain(error).removeprefix(f"{name}: ")
        value = "" if name in _SECRET else f"={merged.get(name)!r}"
        raise ConfigurationError(f"{where}{value}: {reason}") from error


def _read_file(folder: Path | None) -> tuple[dict[str, Any], Path | None]:
    """The contents of `sifaka.toml` in a folder, and its path; nothing and None without one.

    Raises:
        ConfigurationError: It cannot be read, or says what such a file may not.
    """
    path = folder / "sifaka.toml" if folder else None
    if path is None or not path.is_file():
        return {}, None
    told = dict(read_toml(path))
    # Hosts start servers in the folder that is being worked on, and who made that folder is not
    # known: opening it must not run anything, nor send texts or show files to whom it names.
    for name in sorted(told.keys() & _REFUSED.keys()):
        if name != "store" or _PROGRAM.search(str(told[name])):
            raise ConfigurationError(
                f"{path}: {name}: a file in the current folder may not say {_REFUSED[name]}",
                f"give it as SIFAKA_{name.upper()}",
            )
    told.pop("check", None)  # the rules of `sifaka check`, which reads them itself
    return told, path
