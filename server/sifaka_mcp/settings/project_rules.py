"""The rules of a project: `[check]` in sifaka.toml, `[tool.sifaka.check]` in pyproject.toml.

The words of its dictionaries for cspell and typos are right as well.

A project's file comes with the project, so it can only choose among rules and files. It can name no
program, no address and no key.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, Field, ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.naming import did_you_mean
from sifaka.editor.rules import known_name, rule_choice
from sifaka.errors import ConfigurationError
from sifaka.record.rule_choice import DEFAULT, RuleChoice
from sifaka.text.formats import UNCHECKED, Format
from sifaka_mcp.safe_text import short
from sifaka_mcp.settings.path_patterns import Patterns, absolute
from sifaka_mcp.settings.sources import parse_json, parse_toml, parse_yaml, read_content

T = TypeVar("T")
NAMES: Mapping[str, tuple[str, ...]] = {
    "sifaka.toml": ("check",),
    "pyproject.toml": ("tool", "sifaka", "check"),
}
"""The files in which a project's rules are looked for, and the table in each; the first wins."""

FORMATS = tuple(each.value for each in Format if each not in UNCHECKED)
"""The formats that a text can be checked as."""


class CheckTable(BaseModel, extra="forbid", frozen=True):
    """The keys of the table."""

    select: tuple[str, ...] = (DEFAULT,)
    """The rules and groups that are wanted."""
    ignore: tuple[str, ...] = ()
    """Those of them that are not."""
    exclude: tuple[str, ...] = ()
    """Files and folders that are not checked: patterns as in .gitignore."""
    words: tuple[str, ...] = ()
    """Words that are right."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict[str, tuple[str, ...]], alias="per-file-ignores"
    )
    """The rules that are not wanted in files, by a pattern as in .gitignore."""
    formats: Mapping[str, str] = Field(default_factory=dict[str, str], alias="as")
    """The formats of files, by a pattern as in .gitignore."""


_USUAL = RuleChoice()
_NOWHERE = Patterns.of(Path(), ())


@dataclass(frozen=True, kw_only=True)
class CheckRules:
    """The rules for the files of a folder."""

    folder: Path
    """The folder of the file that has them."""
    choice: RuleChoice = _USUAL
    """The rules that are wanted in every file."""
    excluded: Patterns = _NOWHERE
    """The files and folders that are not to be checked."""
    ignored_in: Patterns = _NOWHERE
    ignored: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The rules that are not wanted in files, by a pattern."""
    formatted_in: Patterns = _NOWHERE
    formats: Mapping[str, Format] = field(default_factory=dict[str, Format])
    """The formats of files, by a pattern."""

    def choice_for(self, path: Path, override: RuleChoice | None = None) -> RuleChoice:
        """The rules that are wanted in a file, by the table or by another choice in its place."""
        words = {"words": self.choice.words}
        chosen = self.choice if override is None else override.model_copy(update=words)
        ignored = (self.ignored[pattern] for pattern in self.ignored_in.matching(path))
        return chosen.without(frozenset[str]().union(*ignored))

    def format_of(self, path: Path) -> Format | None:
        """The format that is set for a file; None when none is."""
        return next((self.formats[each] for each in self.formatted_in.matching(path)), None)


class ProjectRules:
    """Finds the rules for each file: those of the nearest folder above it that has some.

    It looks no further than the root of the file's repository, the home folder, or the last folder
    of its owner.

    Args:
        file: The one file that has the rules for all of them; None looks for each.
        search: False looks for none.
    """

    def __init__(self, file: Path | None = None, *, search: bool = True) -> None:
        self._by_folder: dict[Path, tuple[CheckRules | None, frozenset[str]]] = {}
        self._fixed = None if search else CheckRules(folder=Path.cwd())
        if file is not None:
            table = NAMES.get(file.name, ("check",))
            self._fixed = _read_rules(file, table)
            if self._fixed is None:
                raise ConfigurationError(f"{file}: there is no table [{'.'.join(table)}]", "add it")

    def rules_in(self, folder: Path) -> CheckRules:
        """The rules for the files of a folder, with the words of the dictionaries above them.

        Raises:
            ConfigurationError: The file with the rules cannot be read, or is wrong.
        """
        if self._fixed is not None:
            return self._fixed
        here = absolute(folder)
        rules, words = None, frozenset[str]()
        for each in _searched_folders(here):
            own, listed = self._by_folder.get(each) or (_read_own(each), dictionary_words(each))
            rules, words = rules or own, words | listed
            if each in self._by_folder:
                break
        self._by_folder[here] = rules, words
        rules = rules or CheckRules(folder=here)
        return replace(
            rules, choice=rules.choice.model_copy(update={"words": rules.choice.words | words})
        )


def rules_for(path: Path) -> RuleChoice | None:
    """The rules that are wanted in a text, by the name of its file; None for the default ones.

    Raises:
        ConfigurationError: The file with the rules cannot be read, or is wrong.
    """
    choice = ProjectRules().rules_in(path.parent).choice_for(path)
    return None if choice == _USUAL else choice


def _searched_folders(here: Path) -> Iterator[Path]:
    """The folders in which rules are looked for, from this one upwards."""
    home, owner = Path.home(), None
    for each in (here, *here.parents):
        owner, below = _owner_of(each), owner
        if below is not None and owner != below:
            return
        yield each
        if each == home or os.path.exists(each / ".git"):  # noqa: PTH110 - a Path raises where it may not look
            return


def _owner_of(folder: Path) -> int | None:
    try:
        return folder.stat().st_uid
    except OSError:
        return None


def _read_own(folder: Path) -> CheckRules | None:
    read = (_read_rules(folder / name, table) for name, table in NAMES.items())
    return next((rules for rules in read if rules is not None), None)


def known_format(name: str) -> Format:
    """The format of this name.

    Raises:
        ConfigurationError: There is none that can be checked.
    """
    if name not in FORMATS:
        raise ConfigurationError(f"unknown format {name!r}", did_you_mean(name, FORMATS))
    return Format(name)


def _read_rules(path: Path, keys: tuple[str, ...]) -> CheckRules | None:
    """The rules in a file; None when there is no file, or no such table in it."""
    if path.name in NAMES and not os.path.isfile(path):  # noqa: PTH113 - a Path raises for a name that is too long
        return None
    value: object = parse_toml(path, read_content(path))
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType] # TOML can hold anything
    if value is None:
        return None
    origin = f"{path}: {'.'.join(keys)}"
    if not isinstance(value, dict):
        raise ConfigurationError(f"{origin}: is not a table", "write it as a table")
    table = _parse_table(value, origin)  # pyright: ignore[reportUnknownArgumentType] # its keys are checked there
    return _build_rules(table, absolute(path).parent, origin)


def _build_rules(table: CheckTable, folder: Path, origin: str) -> CheckRules:
    """The rules that a table describes.

    Raises:
        ConfigurationError: A name or a pattern is wrong; the error names the file and the key.
    """

    def build(key: str, make: Callable[[], T]) -> T:
        try:
            return make()
        except ConfigurationError as error:
            where = f"{origin}.{key}"
            raise ConfigurationError(f"{where}: {error.message}", error.suggestion) from error

    build("select", lambda: rule_choice(table.select))
    ignored, formats = table.per_file_ignores, table.formats
    return CheckRules(
        folder=folder,
        choice=build("ignore", lambda: rule_choice(table.select, table.ignore, table.words)),
        excluded=build("exclude", lambda: Patterns.of(folder, table.exclude)),
        ignored_in=build("per-file-ignores", lambda: Patterns.of(folder, ignored)),
        ignored=build(
            "per-file-ignores",
            lambda: {each: frozenset(map(known_name, names)) for each, names in ignored.items()},
        ),
        formatted_in=build("as", lambda: Patterns.of(folder, formats)),
        formats=build("as", lambda: {each: known_format(name) for each, name in formats.items()}),
    )


def _parse_table(values: Mapping[str, Any], origin: str) -> CheckTable:
    keys = [info.alias or name for name, info in CheckTable.model_fields.items()]
    for key in values:
        if key not in keys:
            raise ConfigurationError(f"{origin}.{short(key)}: unknown key", did_you_mean(key, keys))
    try:
        return CheckTable.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(f"{origin}.{explain(error)}", "correct the file") from error


# --- the dictionaries of other tools ---

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

    What is broken says nothing here: its own tool reports what is wrong with it.
    """
    words: list[str] = []
    try:
        names = {each.name for each in folder.iterdir()}
    except OSError:
        return frozenset()
    cspell = [partial(_read_cspell, folder / name) for name in CSPELL if name in names][:1]
    typos = [
        partial(_read_typos, folder / name, keys) for name, keys in TYPOS.items() if name in names
    ]
    for read in (*cspell, *typos):  # cspell reads one file
        with suppress(ConfigurationError, ValueError, RecursionError):
            words += read()
    return frozenset(word.strip().lower() for word in words)


def _read_cspell(file: Path) -> Iterator[str]:
    text = read_content(file).decode()
    config = _Cspell.model_validate(parse_yaml(text) if ".y" in file.suffix else parse_json(text))
    yield from (*config.words, *config.ignored)
    for each in config.dictionaries:
        listed = read_content(file.parent / each.path, file.parent).decode()
        yield from (line.partition("#")[0] for line in listed.splitlines())


def _read_typos(file: Path, keys: Iterable[str]) -> Iterator[str]:
    table: object = parse_toml(file, read_content(file))
    for key in keys:
        table = cast("Mapping[str, object]", table).get(key, {}) if isinstance(table, dict) else {}
    config = _Typos.model_validate(table)
    for words in (config.words, config.identifiers):
        yield from (word for word, right in words.items() if word.lower() == right.lower())
