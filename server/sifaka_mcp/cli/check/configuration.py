"""The rules of a project: `[check]` in sifaka.toml, `[tool.sifaka.check]` in pyproject.toml.

A project's file comes with the project, so it can only choose among rules and files. It can name no
program, no address and no key.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sifaka._internal.explain import explain
from sifaka._internal.naming import did_you_mean
from sifaka.errors import ConfigurationError
from sifaka.tasks.check import DEFAULT, RuleChoice, known_name
from sifaka.text.formats import UNCHECKED, Format
from sifaka_mcp.cli.check.patterns import Patterns
from sifaka_mcp.safe_text import short
from sifaka_mcp.settings.toml import parse_toml, read_content

NAMES: Mapping[str, tuple[str, ...]] = {
    "sifaka.toml": ("check",),
    "pyproject.toml": ("tool", "sifaka", "check"),
}
"""The files in which a project's rules are looked for, and the table in each; the first wins."""

FORMATS = tuple(each.value for each in Format if each not in UNCHECKED)
"""The formats that a text can be checked as."""


class CheckTable(BaseModel):
    """The keys of the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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


@dataclass(frozen=True)
class CheckRules:
    """The rules for the files of a folder."""

    folder: Path
    """The patterns are read as paths from here."""
    table: CheckTable
    origin: str = ""
    """The file and the table they are from; empty when there is none."""

    @cached_property
    def choice(self) -> RuleChoice:
        """The rules that are wanted in every file."""
        return RuleChoice.of(self.table.select, self.table.ignore)

    @cached_property
    def words(self) -> frozenset[str]:
        """The accepted words in small letters."""
        return frozenset(word.strip().lower() for word in self.table.words)

    @cached_property
    def _excluded(self) -> Patterns:
        return Patterns.of(self.table.exclude)

    @cached_property
    def _ignored(self) -> tuple[Patterns, Sequence[frozenset[str]]]:
        table = self.table.per_file_ignores
        return Patterns.of(table), [frozenset(map(known_name, names)) for names in table.values()]

    @cached_property
    def _formats(self) -> tuple[Patterns, Sequence[Format]]:
        table = self.table.formats
        return Patterns.of(table), [known_format(name) for name in table.values()]

    def checked(self) -> "CheckRules":
        """These rules, when every name and pattern in them is right.

        Raises:
            ConfigurationError: One is not; the error names the file and the key.
        """
        for key, work in (
            ("select", lambda: RuleChoice.of(self.table.select)),
            ("ignore", lambda: self.choice),
            ("exclude", lambda: self._excluded),
            ("per-file-ignores", lambda: self._ignored),
            ("as", lambda: self._formats),
        ):
            try:
                work()
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"{self.origin}.{key}: {error.message}", error.suggestion
                ) from error
        return self

    def excludes(self, path: Path, *, folder: bool = False) -> bool:
        """True when a file or folder is not to be checked."""
        if not self.table.exclude:
            return False
        inside = self._inside(path)
        return inside is not None and self._excluded.covers(inside, folder=folder)

    def choice_for(self, path: Path, given: RuleChoice | None = None) -> RuleChoice:
        """The rules that are wanted in a file, by the table or by another choice in its place."""
        choice = given or self.choice
        inside = self._inside(path) if self.table.per_file_ignores else None
        if inside is None:
            return choice
        patterns, names = self._ignored
        meant = (names[number] for number in patterns.numbers(inside))
        return choice.without(frozenset[str]().union(*meant))

    def format_of(self, path: Path) -> Format | None:
        """The format that is told for a file; None when none is."""
        inside = self._inside(path) if self.table.formats else None
        if inside is None:
            return None
        patterns, formats = self._formats
        return next((formats[number] for number in patterns.numbers(inside)), None)

    def _inside(self, path: Path) -> str | None:
        place = absolute(path)
        if not place.is_relative_to(self.folder):
            return None
        return place.relative_to(self.folder).as_posix()


class CheckConfiguration:
    """Finds the rules for each file: those of the nearest folder above it that has some.

    Args:
        file: The one file that tells the rules for all of them; None looks for each.
        search: False looks for none.
    """

    def __init__(self, file: Path | None = None, *, search: bool = True) -> None:
        self._by_folder: dict[Path, CheckRules] = {}
        self._fixed = None if search else CheckRules(Path.cwd(), CheckTable())
        if file is not None:
            table = NAMES.get(file.name, ("check",))
            self._fixed = _read_rules(file, table)
            if self._fixed is None:
                raise ConfigurationError(f"{file}: there is no table [{'.'.join(table)}]", "add it")

    def rules_in(self, folder: Path) -> CheckRules:
        """The rules for the files of a folder.

        Raises:
            ConfigurationError: The file with the rules cannot be read, or is wrong.
        """
        if self._fixed is not None:
            return self._fixed
        here = absolute(folder)
        passed: list[Path] = []
        for each in (here, *here.parents):
            passed.append(each)
            found = self._by_folder.get(each) or _own_rules(each)
            if found is not None:
                break
        else:
            found = CheckRules(passed[-1], CheckTable())
        self._by_folder.update(dict.fromkeys(passed, found))
        return found


def _own_rules(folder: Path) -> CheckRules | None:
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


def absolute(path: Path) -> Path:
    """A path from the root, without `..`; links in it are not followed."""
    return Path(os.path.normpath(Path.cwd() / path))


def _read_rules(path: Path, table: tuple[str, ...]) -> CheckRules | None:
    """The rules in a file; None when there is no file, or no such table in it."""
    if path.name in NAMES and not os.path.isfile(path):  # noqa: PTH113 - a Path raises for a name that is too long
        return None
    told: object = parse_toml(path, read_content(path))
    for key in table:
        told = told.get(key) if isinstance(told, dict) else None  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType] # TOML can hold anything
    if told is None:
        return None
    origin = f"{path}: {'.'.join(table)}"
    if not isinstance(told, dict):
        raise ConfigurationError(f"{origin}: is not a table", "write it as a table")
    rules = CheckRules(absolute(path).parent, _parsed(told, origin), origin)  # pyright: ignore[reportUnknownArgumentType] # its keys are checked there
    return rules.checked()


def _parsed(told: Mapping[str, Any], origin: str) -> CheckTable:
    known = [info.alias or name for name, info in CheckTable.model_fields.items()]
    for key in told:
        if key not in known:
            raise ConfigurationError(
                f"{origin}.{short(key)}: unknown key", did_you_mean(key, known)
            )
    try:
        return CheckTable.model_validate(told)
    except ValidationError as error:
        raise ConfigurationError(f"{origin}.{explain(error)}", "correct the file") from error
