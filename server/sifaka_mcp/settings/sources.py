"""Reads the settings, once: flags over environment over `sifaka.toml` over the user's own file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.masking import conceal, passwords_in, secrets_in
from sifaka._internal.naming import closest
from sifaka.errors import ConfigurationError
from sifaka.evidence.sources.collection import secrets_of
from sifaka_mcp.settings import Settings
from sifaka_mcp.settings.project import ProjectFile
from sifaka_mcp.settings.toml import parse_toml, read_content

OWN_FILE = "config.toml"
"""In the user's own folder of configuration; it may set everything."""
_SECRET = frozenset({"store", "state_keys", "adapters", "adapter_keys"})
"""Settings with values that errors do not repeat: a reason names a URL as far as it may."""


def load_settings(
    environ: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
    *,
    project: ProjectFile | None = None,
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

    def told(error: ValidationError) -> str:
        name = str(error.errors()[0]["loc"][0])
        if name in in_flags:
            where = f"--{name.replace('_', '-')}"
        elif name in in_environ:
            where = names[name]
        else:
            path = project.path if project and name in in_project else own_path
            where = f"{path}: {name}"
        reason = explain(error).removeprefix(f"{name}: ")
        value = "" if name in _SECRET else f"={merged.get(name)!r}"
        return f"{where}{value}: {reason}"

    while True:
        try:
            return Settings.model_validate(merged)
        except ValidationError as error:
            said = told(error)
            if wrong is None:
                raise ConfigurationError(said) from error
            wrong.append(said)
            del merged[str(error.errors()[0]["loc"][0])]


def unknown_names(environ: Mapping[str, str]) -> list[str]:
    """A line for each variable that is named like a setting and is none."""
    known = [f"SIFAKA_{name.upper()}" for name in Settings.model_fields]
    return [
        f"{name} is no setting"
        + (f"; did you mean {near}?" if (near := closest(name, known)) else "")
        for name in sorted(environ)
        if name.startswith("SIFAKA_") and name not in known
    ]
