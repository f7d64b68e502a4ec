"""The findings that are new: against a report from before, or against a revision of git."""

import json
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from sifaka.errors import ConfigurationError
from sifaka.tasks.check import Diagnostic
from sifaka_mcp.cli.check.jobs import FileReport

IsNew = Callable[[str, Diagnostic], bool]
"""Tells if a finding in the file of a path is new."""
_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


def new_alone(reports: Iterable[FileReport], is_new: IsNew) -> list[FileReport]:
    """The reports with their new findings alone."""
    return [
        replace(report, diagnostics=tuple(d for d in report.diagnostics if is_new(report.path, d)))
        for report in reports
    ]


def not_in(file: Path) -> IsNew:
    """A finding is new when a report of `--format json` does not have it.

    Raises:
        ConfigurationError: The file cannot be read, or is not such a report.
    """
    how = "make one: sifaka check PATH --format json"
    try:
        entries = json.loads(file.read_bytes())["diagnostics"]
        known = {(each["path"], each["fingerprint"]) for each in entries}
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}", how) from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigurationError(f"{file} is no report of findings", how) from error
    return lambda path, finding: (path, finding.fingerprint) not in known


def changed_since(revision: str) -> IsNew:
    """New is what touches a line that was changed since a revision, or since the branch left it.

    All of a file that git does not know is new.

    Raises:
        ConfigurationError: There is no git, no repository, or no such revision.
    """
    commit = _git("rev-parse", "--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    base = _git("merge-base", "HEAD", commit.decode().strip()).decode().strip()
    changed = cache(partial(_changed_lines, base))

    def is_new(path: str, finding: Diagnostic) -> bool:
        lines = range(finding.line, finding.end_line + 1)
        return any(max(p.start, lines.start) < min(p.stop, lines.stop) for p in changed(path))

    return is_new


def _changed_lines(base: str, path: str) -> Sequence[range]:
    """The lines of a file that are not as they were."""
    if not _git("ls-files", "--", path):
        return [range(1, 1 << 60)]
    diff = _git("diff", "--no-ext-diff", "--no-textconv", "--no-color", "-U0", base, "--", path)
    hunks = ((int(first), int(count or b"1")) for first, count in _HUNK.findall(diff))
    return [range(first, first + count) for first, count in hunks]


def _git(*arguments: str) -> bytes:
    """What a command of git prints.

    Raises:
        ConfigurationError: It failed.
    """
    command = ("git", "-c", "core.fsmonitor=false", "--literal-pathspecs", *arguments)
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603 - no shell, and no word of a project's file
    except OSError as error:
        raise ConfigurationError(f"--since: git cannot be started: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        stderr: bytes = error.stderr
        reason = stderr.decode(errors="replace").strip() or "there is no such commit"
        raise ConfigurationError(
            f"--since: {reason.removeprefix('fatal: ')}",
            "name a commit of the repository you are in; a shallow clone may lack it",
        ) from error
