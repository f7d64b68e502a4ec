"""The files that are meant by the paths of a command."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sifaka.extras import require
from sifaka.text.formats import UNCHECKED, Format
from sifaka.text.formats.format import by_name, is_plain
from sifaka_mcp.cli.check.configuration import CheckConfiguration, absolute

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

PROSE = frozenset(set(Format) - {*UNCHECKED, Format.GETTEXT, Format.PYTHON})
"""The formats of files that are taken from a folder, where their names show them."""
VENDORED = frozenset(
    {
        "node_modules", "bower_components", "vendor", "third_party", "site-packages", "__pycache__",
        "__pypackages__", "venv", "_build", "build", "buck-out", "dist", "target",
    }
)  # fmt: skip
"""The folders that are left out, besides hidden ones; a folder that is named is not."""
_ROOTS = (".git", "sifaka.toml", "pyproject.toml")
"""A folder with one of these is a project; what is above it lies outside."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file to check."""

    path: Path
    """As it is shown: below the path that was given."""
    named: bool = True
    """False when it was found in a folder, or by a pattern."""


@dataclass(frozen=True, slots=True)
class BadPath:
    """A path that cannot be checked."""

    path: Path
    reason: str


Found = Candidate | BadPath


def find_files(paths: Iterable[str], configuration: CheckConfiguration) -> Iterator[Found]:
    """The files, each once, in the order of the paths and of their names.

    A folder stands for the texts in it and below it; what is hidden, vendored or ignored by git is
    left out. A pattern stands for what it matches. What the configuration excludes is left out
    everywhere.

    Raises:
        ConfigurationError: A file with rules is wrong.
    """
    seen: set[str] = set()
    for found in _all(paths, configuration):
        name = os.path.normpath(found.path)
        if name not in seen:
            seen.add(name)
            yield found


def _all(paths: Iterable[str], configuration: CheckConfiguration) -> Iterator[Found]:
    for name in paths:
        path = Path(name)
        if glob.has_magic(name) and not os.path.lexists(path):
            yield from _matching(name, configuration)
        elif os.path.isdir(name):  # noqa: PTH112 - a Path raises for a name that is too long
            yield from _Walk(path, configuration).files()
        elif not configuration.rules_in(path.parent).excludes(path):
            yield Candidate(path)


def _matching(pattern: str, configuration: CheckConfiguration) -> Iterator[Found]:
    names = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - a Path loses `./` and `**/`
    if not names:
        yield BadPath(Path(pattern), "matches no file")
    for path in map(Path, names):
        # `**` and `*` match folders too, which are not asked to be searched by that.
        if path.is_dir() or configuration.rules_in(path.parent).excludes(path):
            continue
        if path.suffix == Path(pattern).suffix or _is_wanted(path, configuration):
            yield Candidate(path, named=False)


def _is_wanted(path: Path, configuration: CheckConfiguration) -> bool:
    """True when a file that was not named is a text."""
    if by_name(path) in PROSE or (by_name(path) is None and is_plain(path)):
        return True
    return configuration.rules_in(path.parent).format_of(path) is not None


class _Walk:
    """The texts in a folder and below it."""

    def __init__(self, folder: Path, configuration: CheckConfiguration) -> None:
        self._folder = folder
        self._configuration = configuration
        self._project = _project_of(absolute(folder))

    def files(self) -> Iterator[Found]:
        """Those of each folder, then those of its folders."""
        folders = [(self._folder, _ignores_above(self._folder, self._project))]
        while folders:
            folder, ignores = folders.pop()
            if own := _Ignores.of(folder):
                ignores = [*ignores, own]
            below: list[Path] = []
            for found in self._in(folder, ignores):
                if isinstance(found, Path):
                    below.append(found)
                else:
                    yield found
            folders += [(path, ignores) for path in reversed(below)]

    def _in(self, folder: Path, ignores: Sequence["_Ignores"]) -> Iterator[Found | Path]:
        """The texts of one folder, and its folders."""
        rules = self._configuration.rules_in(folder)
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield BadPath(folder, error.strerror or str(error))
            return
        for entry in entries:
            path = folder / entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name.startswith(".") or (is_folder and _is_vendored(path)):
                continue
            if rules.excludes(path, folder=is_folder) or _is_ignored(path, is_folder, ignores):
                continue
            if is_folder:
                yield path
            elif entry.is_symlink():
                yield from self._linked(path)
            elif _is_wanted(path, self._configuration):
                yield Candidate(path, named=False)

    def _linked(self, path: Path) -> Iterator[Found]:
        """A link is not followed: what it leads to is checked where it lies, or not at all."""
        wanted = _is_wanted(path, self._configuration)
        try:
            target = path.resolve(strict=True)
        except FileNotFoundError:
            if wanted:
                yield BadPath(path, "is a link to nothing")
            return
        except (OSError, RuntimeError):  # a RuntimeError before Python 3.13
            yield BadPath(path, "is a link that leads to itself")
            return
        if (wanted or target.is_dir()) and not target.is_relative_to(self._project):
            yield BadPath(path, f"is a link to {target}, outside of {self._project}")


def _is_vendored(folder: Path) -> bool:
    return folder.name in VENDORED or os.path.exists(folder / "pyvenv.cfg")  # noqa: PTH110 - a Path raises where it may not look


@dataclass(frozen=True, slots=True)
class _Ignores:
    """The patterns of one .gitignore."""

    folder: Path
    spec: "GitIgnoreSpec"

    @classmethod
    def of(cls, folder: Path, name: str = ".gitignore") -> "_Ignores | None":
        """Those in a folder; None when there are none that can be read."""
        try:
            lines = (folder / name).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return None
        require(f"a folder with {name}", "cli", "pathspec")
        from pathspec import GitIgnoreSpec

        return cls(absolute(folder), GitIgnoreSpec.from_lines(lines))


def _is_ignored(path: Path, is_folder: bool, ignores: Sequence[_Ignores]) -> bool:
    place = absolute(path)
    for each in reversed(ignores):  # the nearest file that says something decides
        inside = place.relative_to(each.folder).as_posix() + "/" * is_folder
        decided = each.spec.check_file(inside).include
        if decided is not None:
            return decided
    return False


def _ignores_above(folder: Path, project: Path) -> list[_Ignores]:
    """The ignore files of the folders from the project's root to above this one."""
    above = [each for each in absolute(folder).parents if each.is_relative_to(project)]
    found = [each for each in map(_Ignores.of, reversed(above)) if each is not None]
    # A folder that is ignored itself, and was named all the same, is wanted.
    return [] if _is_ignored(folder, True, found) else found


def _project_of(folder: Path) -> Path:
    """The nearest folder that is a project's root; the folder itself when none is."""
    resolved = folder.resolve()
    inside = (
        f
        for f in (resolved, *resolved.parents)
        if any(os.path.exists(f / n) for n in _ROOTS)  # noqa: PTH110 - a Path raises where it may not look
    )
    return next(inside, resolved)
