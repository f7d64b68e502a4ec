"""The files that the paths of a command name."""

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sifaka._internal.safe_open import opened, read_beneath
from sifaka.errors import ConfigurationError
from sifaka.text.formats import UNCHECKED, Format, by_name, is_plain
from sifaka_mcp.settings.path_patterns import LARGEST, Patterns, absolute
from sifaka_mcp.settings.project_rules import ProjectRules

PROSE = frozenset(set(Format) - {*UNCHECKED})
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
class Found:
    """A file to check, or a path that cannot be checked."""

    path: Path
    """As it is shown: below the path that was given."""
    root: Path | None = None
    """The project that it must lie in, links followed; None allows every place."""
    named: bool = True
    """False when it was found in a folder: one that holds no text is left out."""
    problem: str | None = None
    """Why it cannot be checked."""

    @property
    def shown(self) -> str:
        """The path with `/` between folders."""
        return self.path.as_posix()


def find_files(paths: Iterable[str], configuration: ProjectRules) -> Iterator[Found]:
    """The files, each once, in the order of the paths and of their names.

    A folder stands for the texts in it and below it; what is hidden, vendored or ignored by git is
    left out. What the configuration excludes is left out everywhere.

    Raises:
        ConfigurationError: A file with rules is wrong, or a .gitignore too large.
    """
    seen: set[str] = set()
    for path in map(Path, paths):
        files: Iterable[Found] = ()
        if os.path.isdir(path):  # noqa: PTH112 - a Path raises for a name that is too long
            files = _walk(path, configuration)
        elif not configuration.rules_in(path.parent).excluded.covers(path):
            files = [Found(path, project_of(path.parent))]
        for each in files:
            name = os.path.normpath(each.path)
            if name not in seen:
                seen.add(name)
                yield each


def _is_wanted(path: Path, configuration: ProjectRules) -> bool:
    """True when a file that was not named is a text."""
    return (
        by_name(path) in PROSE
        or (by_name(path) is None and is_plain(path))
        or configuration.rules_in(path.parent).format_of(path) is not None
    )


def _walk(start: Path, configuration: ProjectRules) -> Iterator[Found]:
    """The texts in a folder and below it: those of each folder, then those of its folders."""
    project = project_of(start)
    bad = [*_check_link(start, project, configuration)]
    yield from bad
    folders = [] if bad else [(start, _ignores_above(start, project))]
    while folders:
        folder, ignores = folders.pop()
        if own := _read_ignores(folder):
            ignores = [*ignores, own]
        rules = configuration.rules_in(folder)
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Found(folder, problem=error.strerror or str(error))
            continue
        below: list[Path] = []
        for entry in entries:
            path = folder / entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if (
                entry.name.startswith(".")
                or (is_folder and _is_vendored(path))
                or rules.excluded.covers(path, folder=is_folder)
                or _is_ignored(path, is_folder, ignores)
            ):
                continue
            if is_folder:
                below.append(path)
            elif entry.is_symlink():
                yield from _check_link(path, project, configuration)
            elif _is_wanted(path, configuration):
                yield Found(path, project, named=False)
        folders += [(path, ignores) for path in reversed(below)]


def _check_link(path: Path, project: Path, configuration: ProjectRules) -> Iterator[Found]:
    """A link is not followed: what it leads to is checked where it lies, or not at all."""
    try:
        with suppress(IsADirectoryError), opened(path, project):
            pass
    except OSError as error:
        if os.path.isdir(path) or _is_wanted(path, configuration):  # noqa: PTH112 - a Path raises where it may not look
            yield Found(path, problem=error.strerror or "cannot be read")


def _is_vendored(folder: Path) -> bool:
    return folder.name in VENDORED or os.path.exists(folder / "pyvenv.cfg")  # noqa: PTH110 - a Path raises where it may not look


def _read_ignores(folder: Path) -> Patterns | None:
    """The .gitignore of a folder; None when there is none, or it is not a regular file.

    Raises:
        ConfigurationError: It is too large.
    """
    path = folder / ".gitignore"
    try:
        content = read_beneath(path, LARGEST, folder)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ConfigurationError(f"{path} is {error.strerror}", "use fewer patterns") from error
        return None
    lines = content.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n").split("\n")
    return Patterns.of(absolute(folder), lines)


def _is_ignored(path: Path, is_folder: bool, ignores: Sequence[Patterns]) -> bool:
    decisions = (each.decides(path, folder=is_folder) for each in reversed(ignores))
    # The nearest file that says something decides.
    return next((each for each in decisions if each is not None), False)


def _ignores_above(folder: Path, project: Path) -> list[Patterns]:
    """The ignore files of the folders from the project's root to above this one."""
    here = absolute(folder)
    above = [each for each in here.parents if each.is_relative_to(project)]
    ignores = [each for each in map(_read_ignores, reversed(above)) if each is not None]
    # A folder that is ignored itself, and was named all the same, is checked.
    ignored = any(
        _is_ignored(each, True, [one for one in ignores if one.folder in each.parents])
        for each in (here, *above[:-1])
    )
    return [] if ignored else ignores


def project_of(folder: Path) -> Path:
    """The project of a folder: what its files may lead to.

    That is the nearest folder with one of `_ROOTS` to which no link out of another such folder
    leads. Without any it is the current folder, or else the folder itself.
    """
    here, current, root = absolute(folder), Path.cwd(), None
    for each in reversed((here, *here.parents)):
        if any(os.path.exists(each / name) for name in _ROOTS) or (each == current and not root):  # noqa: PTH110 - a Path raises where it may not look
            if root and not Path(os.path.realpath(each)).is_relative_to(os.path.realpath(root)):
                break
            root = each
    return root or here
