"""The words that a project's dictionaries for cspell and typos take for right."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from pydantic import BaseModel, Field

from sifaka.errors import ConfigurationError
from sifaka_mcp.settings.sources import parse_json, parse_toml, parse_yaml, read_content

CSPELL = tuple(
    f"{dot}{name}.{suffix}"
    for name in ("cspell", "cSpell", "cspell.config")
    for dot in ("", ".")
    for suffix in ("json", "jsonc", "yaml", "yml")
)
"""The files of cspell."""
TYPOS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("typos.toml", "_typos.toml", ".typos.toml"), ("default",)),
    "pyproject.toml": ("tool", "typos", "default"),
}
"""The files of typos, and the table in each."""


class _Dictionary(BaseModel):
    path: str


class _Cspell(BaseModel):
    words: Sequence[str] = ()
    ignored: Sequence[str] = Field(default=(), alias="ignoreWords")
    dictionaries: Sequence[_Dictionary] = Field(default=(), alias="dictionaryDefinitions")


class _Typos(BaseModel):
    words: Mapping[str, str] = Field(default_factory=dict[str, str], alias="extend-words")
    identifiers: Mapping[str, str] = Field(
        default_factory=dict[str, str], alias="extend-identifiers"
    )


def dictionary_words(folder: Path) -> frozenset[str]:
    """The words, in small letters, by the files of a folder.

    What is broken says nothing here: its own tool tells what is wrong with it.
    """
    words: list[str] = []
    try:
        names = {each.name for each in folder.iterdir()}
    except OSError:
        return frozenset()
    for name in (each for each in CSPELL if each in names):
        with suppress(ConfigurationError, ValueError, RecursionError):
            words += _of_cspell(folder / name)
    for name, keys in TYPOS.items():
        if name in names:
            with suppress(ConfigurationError, ValueError, RecursionError):
                words += _of_typos(folder / name, keys)
    return frozenset(word.strip().lower() for word in words)


def _of_cspell(file: Path) -> Iterator[str]:
    text = read_content(file).decode()
    told = _Cspell.model_validate(parse_yaml(text) if ".y" in file.suffix else parse_json(text))
    yield from (*told.words, *told.ignored)
    for each in told.dictionaries:
        listed = read_content(file.parent / each.path, file.parent).decode()
        yield from (line.partition("#")[0] for line in listed.splitlines())


def _of_typos(file: Path, keys: Iterable[str]) -> Iterator[str]:
    told: object = parse_toml(file, read_content(file))
    for key in keys:
        told = cast("Mapping[str, object]", told).get(key, {}) if isinstance(told, dict) else {}
    found = _Typos.model_validate(told)
    for words in (found.words, found.identifiers):
        yield from (word for word, meant in words.items() if word.lower() == meant.lower())
