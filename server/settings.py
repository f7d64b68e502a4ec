"""Settings: flags over environment over `sifaka.toml`, read once."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import Field, ValidationError, field_validator

from sifaka.errors import ConfigurationError
from sifaka.explain import explain
from sifaka.immutable import Frozen

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
TOOLSETS: Mapping[str, tuple[str, ...]] = {
    "refine": (
        "improve_text",
        "submit_revision",
        "validate_text",
        "critique_text",
        "get_thought_history",
        "cancel_run",
    ),
    "recall": ("get_thought_history",),
}
"""The names of the tools in each toolset."""


class Settings(Frozen):
    """What the process was told. Each field is `SIFAKA_<NAME>` in the environment."""

    model: str = "auto"
    judge_model: str | None = None
    store: str = "sqlite:"
    home: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("sifaka", False)))
    tenant: str = Field(default="default", min_length=1, max_length=64, pattern=r"^[\w.@-]+$")
    toolsets: tuple[str, ...] = ("refine",)
    allowed_hosts: tuple[str, ...] = ()
    """Host headers the HTTP server answers to besides the loopback ones; `*` for any port."""
    log_level: LogLevel = "WARNING"

    @field_validator("toolsets", "allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator("toolsets")
    @classmethod
    def _known(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in TOOLSETS:
                raise ValueError(f"unknown toolset {name!r}, known: {', '.join(TOOLSETS)}")
        if not value:
            raise ValueError(f"no toolset, choose of {', '.join(TOOLSETS)}")
        return value

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools to offer."""
        return frozenset(name for toolset in self.toolsets for name in TOOLSETS[toolset])


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
    names = {name: f"SIFAKA_{name.upper()}" for name in Settings.model_fields}
    in_file, path = _file(folder)
    in_environ = {name: environ[v] for name, v in names.items() if environ.get(v)}
    in_flags = {name: v for name, v in (flags or {}).items() if v is not None}
    merged = {**in_file, **in_environ, **in_flags}
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
        raise ConfigurationError(f"{where}={merged.get(name)!r}: {explain(error)}") from error


def _file(folder: Path | None) -> tuple[dict[str, Any], Path | None]:
    path = folder / "sifaka.toml" if folder else None
    if path is None or not path.is_file():
        return {}, None
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")), path
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{path} is not valid TOML: {error}", "correct the file"
        ) from error
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
