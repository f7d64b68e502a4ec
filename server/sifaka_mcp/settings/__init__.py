"""The settings of a process, and what they name, opened."""

import os
import re
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
)

from sifaka._internal.immutable import FrozenMap
from sifaka._internal.naming import closest, did_you_mean
from sifaka.embeddings.protocol import PACKAGED, Embedder
from sifaka.errors import ConfigurationError, PluginError
from sifaka.evidence.sources.collection import NONE, Adapters, named_keys
from sifaka.extras import installed
from sifaka.models import AUTO, CALLER, HOST
from sifaka.plugins import Plugins
from sifaka.record.entries import Facts
from sifaka.record.thought import EDITOR
from sifaka.record.usage import Budget
from sifaka.storage import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.settings.http import HttpSettings, Names, matching, split_list
from sifaka_mcp.stores.catalogue import open_url
from sifaka_mcp.tenancy import TENANT

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]
_in_capitals = BeforeValidator(lambda value: value.upper() if isinstance(value, str) else value)
TOOLSETS: Mapping[str, tuple[str, ...]] = {
    "refine": (
        "improve_text",
        "submit_revision",
        "validate_text",
        "critique_text",
        "get_thought_history",
        "resume_run",
        "cancel_run",
    ),
    "recall": ("get_thought_history",),
    "evidence": ("verify_evidence", "search_evidence"),
    "research": (
        "research",
        "submit_revision",
        "get_thought_history",
        "resume_run",
        "cancel_run",
    ),
}
"""The names of the tools in each toolset."""
READING = frozenset(
    {"validate_text", "critique_text", "verify_evidence", "search_evidence", "get_thought_history"}
)
"""Those that say of themselves that they change nothing."""
_SHORTEST_KEY = 32
MOST_RUNS = 64
NO_PROVIDER = (AUTO, EDITOR, CALLER, HOST)
"""The names of models that no provider is asked for."""
_PROVIDER = r"[^\s:]+:\S+"
_Provider = Annotated[
    str, AfterValidator(matching(_PROVIDER, "should be provider:name such as openai:gpt-5"))
]
_Embedder = Annotated[
    str,
    AfterValidator(
        matching(
            rf"{PACKAGED}|[^\s:]+:\S.*",  # the path of a folder may have spaces
            "should be provider:name such as openai:text-embedding-3-small, "
            f"model2vec:/path/to/model, {PACKAGED}, or none",
        )
    ),
]
_Tenant = Annotated[
    str,
    AfterValidator(
        matching(rf"~?{TENANT}", "should be 1 to 64 letters, digits or characters of _ . @ -")
    ),
]


class Settings(HttpSettings):
    """The settings of a process. Each field is `SIFAKA_<NAME>` in the environment."""

    model: str = "auto"
    judge_model: _Provider | None = None
    fallback_models: Names = ()
    """Asked in this order when the model has failed for good; `caller` may be the last."""
    call_seconds: float | None = Field(default=None, gt=0, le=3600)
    """Seconds that one call of a model may take. When None 120, for the model of a host 600, and
    for a local provider as long as its speed needs."""
    plugins: Names = ()
    """Packages with critics, validators and stores that may be loaded by a spec or URL."""
    store: str = "sqlite:"
    adapter_keys: FrozenMap[SecretStr] = Field(default_factory=dict[str, SecretStr])
    """By the names of adapters, what they are asked with: see `open_adapters`."""
    adapters: Names = ()
    """Sources of evidence, each such as `wiki=wikipedia:en`; none when empty."""
    embedding_model: Annotated[
        _Embedder | None, BeforeValidator(lambda value: None if value == "none" else value)
    ] = Field(default_factory=lambda: PACKAGED if installed(PACKAGED, "sqlite_vec") else None)
    """The embedding model for semantic search, in the stores that keep vectors; without one that
    is named, the one that the extra `embeddings` brings."""
    home: Path = Field(default_factory=lambda: data_folder("sifaka"))
    facts: Facts = "off"
    """The least that differences of a version from its original weigh; calls only raise it."""
    tenant: _Tenant = "default"
    toolsets: Names = ("refine",)
    read_only: bool = False
    """True when the server offers only tools that change nothing, and never writes to the store."""
    max_runs: int = Field(default=MOST_RUNS, ge=1)
    """Runs in progress at the same time for one tenant in one process."""
    tenant_budget: Budget | None = None
    """Limits for all model calls of one tenant in one day (UTC), such as
    `max_calls=1000,max_cost_usd=5`; None for no limit."""
    takeover_seconds: float = Field(default=15.0, ge=1, le=3600)
    """After which a silent process is taken for dead, and others go on with its runs; on Redis."""
    state_keys: Annotated[tuple[SecretStr, ...], BeforeValidator(split_list)] = ()
    """Keys that seal the state clients carry between rounds, each of 32 characters at least; the
    first seals. Replicas need the same ones; alone, a key is made in the home folder."""
    log_level: Annotated[LogLevel, _in_capitals] = "WARNING"
    log_format: Literal["text", "json"] = "text"
    """The form of a log record on stderr: a line for people, or a JSON object for programs."""

    @field_validator("model")
    @classmethod
    def _names_a_writer(cls, value: str) -> str:
        if value not in NO_PROVIDER and not re.fullmatch(_PROVIDER, value):
            similar = closest(value, NO_PROVIDER)
            raise ValueError(
                f"should be {', '.join(NO_PROVIDER)}, or provider:name such as openai:gpt-5"
                + ("" if similar is None else f"; did you mean {similar!r}?")
            )
        return value

    @field_validator("fallback_models")
    @classmethod
    def _name_providers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in {HOST, CALLER} and not re.fullmatch(_PROVIDER, name):
                raise ValueError(
                    f"{name!r} should be {HOST}, {CALLER}, or provider:name such as openai:gpt-5"
                )
        if CALLER in value[:-1]:
            raise ValueError(f"{CALLER} should be the last one")
        return value

    @field_validator("store")
    @classmethod
    def _can_be_opened(cls, value: str, info: ValidationInfo) -> str:
        plugins = Plugins(info.data.get("plugins", ()))
        try:
            open_url(value, home=Path(os.sep), plugins=plugins)  # looks at the form only
        except (ConfigurationError, PluginError) as error:
            raise ValueError(str(error)) from error
        return value

    @field_validator("adapter_keys", mode="before")
    @classmethod
    def _split_keys(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = named_keys(value)
        names = [name for name, _ in pairs]
        if not all(names) or not all(secret for _, secret in pairs):
            raise ValueError("should be name=secret, with commas between them; %2C is a comma")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{twice!r} has two keys")
        return dict(pairs)

    @field_validator("adapters")
    @classmethod
    def _can_be_searched(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if value:
            keys: Mapping[str, SecretStr] = info.data.get("adapter_keys", {})
            try:
                _open_adapters(value, keys, MemoryStorage())  # looks at the form only
            except ConfigurationError as error:
                raise ValueError(str(error)) from error
        return value

    @field_validator("state_keys")
    @classmethod
    def _are_long(cls, value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(key.get_secret_value()) < _SHORTEST_KEY for key in value):
            raise ValueError(f"should be {_SHORTEST_KEY} characters each, or more")
        return value

    @field_validator("tenant_budget", mode="before")
    @classmethod
    def _split_limits(cls, value: object) -> object:
        """In the environment the limits have commas between them."""
        if not isinstance(value, str):
            return value
        parts = (part.partition("=") for part in value.split(","))
        return {name.strip(): number.strip() for name, _, number in parts}

    @field_validator("tenant_budget")
    @classmethod
    def _is_of_a_day(cls, value: Budget | None) -> Budget | None:
        if value is not None and value.max_seconds is not None:
            raise ValueError("max_seconds is a limit of a run, not of a day")
        return value

    @field_validator("toolsets")
    @classmethod
    def _are_toolsets(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in TOOLSETS:
                raise ValueError(f"unknown toolset {name!r}; {did_you_mean(name, TOOLSETS)}")
        if not value:
            raise ValueError(f"no toolset, choose of {', '.join(TOOLSETS)}")
        return value

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools to offer."""
        names = frozenset(name for toolset in self.toolsets for name in TOOLSETS[toolset])
        return names & READING if self.read_only else names

    def why_not_offered(self, name: str) -> str:
        """The setting that would offer a tool; empty where there is no such tool."""
        of = next((toolset for toolset, names in TOOLSETS.items() if name in names), None)
        if of is None:
            return ""
        if of in self.toolsets:
            return "it writes, and SIFAKA_READ_ONLY is set"
        return f"it comes with SIFAKA_TOOLSETS={','.join((*self.toolsets, of))}"

    def open_store(self) -> ThoughtStore:
        """The configured store, of the configured tenant; it is touched on first use only.

        Raises:
            ConfigurationError: The embedding model cannot be used.
        """
        return open_url(
            self.store,
            home=self.home,
            tenant=self.tenant,
            embedder=self.open_embedder(),
            plugins=Plugins(self.plugins),
        )

    def open_adapters(self, store: ThoughtStore, specs: tuple[str, ...] = ()) -> Adapters:
        """The configured adapters, or others in their place; no source is touched before a search.

        The caller closes them with `aclose`.

        Args:
            store: Where past texts are, for `thoughts:`.
            specs: The other adapters; they get the configured keys by their names.
        """
        return _open_adapters(specs or self.adapters, self.adapter_keys, store)

    def open_embedder(self) -> Embedder | None:
        """The configured embedding model, if there is one; nothing is asked of it yet.

        Raises:
            ConfigurationError: It cannot be used.
        """
        return self._embedder

    @cached_property
    def _embedder(self) -> Embedder | None:
        """One for all that compare meanings: a local model is loaded once."""
        if self.embedding_model is None:
            return None
        from sifaka.embeddings.catalogue import open_embedder

        return open_embedder(self.embedding_model)


def _open_adapters(
    specs: tuple[str, ...], keys: Mapping[str, SecretStr], store: ThoughtStore
) -> Adapters:
    if not specs:
        return NONE
    from sifaka.evidence.sources.catalogue import open_adapters

    return open_adapters(
        specs, keys={name: key.get_secret_value() for name, key in keys.items()}, store=store
    )


def data_folder(program: str) -> Path:
    """The folder for a program's data, as macOS, Windows and freedesktop.org want it."""
    return _folder("XDG_DATA_HOME", "~/.local/share", "LOCALAPPDATA", "Local") / program


def config_folder(program: str) -> Path:
    """The folder for the configuration of a program; a path to nothing where he has no home."""
    try:
        folder = _folder("XDG_CONFIG_HOME", "~/.config", "APPDATA", "Roaming")
    except RuntimeError:
        folder = Path()
    # A relative one would lie in the current folder, which may be another person's.
    return (folder if folder.is_absolute() else Path(os.devnull)) / program


def _folder(variable: str, usual: str, on_windows: str, usual_on_windows: str) -> Path:
    path = Path(os.environ.get(variable, "").strip())
    if sys.platform == "win32":
        path = Path(os.environ.get(on_windows) or f"~/AppData/{usual_on_windows}")
    elif not path.is_absolute():
        path = Path("~/Library/Application Support" if sys.platform == "darwin" else usual)
    return path.expanduser()
