"""`sifaka check`: the mistakes in files, as a linter reports them."""

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from sifaka.errors import ConfigurationError, SifakaError
from sifaka.record.entries import Fixes
from sifaka.tasks.check import RuleChoice
from sifaka.text.formats import Format
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.check.configuration import FORMATS, CheckConfiguration
from sifaka_mcp.cli.check.files import Found, find_files
from sifaka_mcp.cli.check.jobs import (
    CheckJob,
    FileReport,
    check_file,
    check_files,
    processors,
)
from sifaka_mcp.cli.check.reports import Report, as_github, as_json, as_lines, as_sarif, summary
from sifaka_mcp.cli.process import printing, say, termination_interrupts
from sifaka_mcp.cli.session import Session
from sifaka_mcp.safe_text import flat, visible

CLEAN, FOUND, FAILED = 0, 1, 2
"""Exit codes: nothing was found, something was, something could not be checked or is wrong."""
STDIN = "-"
_REPORTS: Mapping[str, Report] = {
    "text": as_lines,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
_MOST_JOBS = 256


@opt.command(
    opt.argument(
        "paths", metavar="PATH", nargs="+", help="files and folders; - reads standard input"
    ),
    opt.argument("--fix", action="store_true", help="write the fixes that are certain"),
    opt.argument(
        "--suggestions", action="store_true", help="with --fix or --diff, suggested fixes as well"
    ),
    opt.argument("--diff", action="store_true", help="print the fixes, and write nothing"),
    opt.argument(
        "--select", action="append", metavar="RULES", help="these rules alone, such as spelling"
    ),
    opt.argument(
        "--min-style",
        type=opt.whole_number(0, 100),
        default=0,
        metavar="N",
        help="texts of which the critic `style` says less than N, of 100, fail",
    ),
    opt.argument("--ignore", action="append", default=[], metavar="RULES", help="not these rules"),
    opt.argument(
        "--as",
        dest="as_format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"what the texts are: {', '.join(FORMATS)}; recognised when left out",
    ),
    opt.argument("--stdin-filename", metavar="FILE", help="the name of standard input"),
    opt.either(
        opt.argument("--config", metavar="FILE", type=Path, help="take the rules from FILE"),
        opt.argument("--no-config", action="store_true", help="do not look for a file with rules"),
    ),
    opt.argument("--format", choices=list(_REPORTS), default="text"),
    opt.argument("--exit-zero", action="store_true", help="findings are no failure"),
    opt.argument(
        "--jobs",
        type=opt.whole_number(1, _MOST_JOBS),
        metavar="N",
        help="processes; as many as there are processors when left out",
    ),
)
def check(session: Session) -> int:
    """Print what is wrong in the files; 0 when nothing is, 1 when something is, 2 on an error."""
    try:
        command = _Command(session.options)
        return command.finish(command.reports())
    except SifakaError as error:
        raise ConfigurationError(error.message, error.suggestion) from error
    except Exception as error:  # a bug would end the process with 1, which means "found"
        logging.getLogger(__name__).debug("check", exc_info=error)
        say(f"the check was not finished, because of a bug in Sifaka ({type(error).__name__})")
        return FAILED


class _Command:
    """One call of the command."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._select = RuleChoice.of(_names(options.select)) if options.select else None
        self._ignore = RuleChoice.of((), _names(options.ignore)).ignore
        self._configuration = CheckConfiguration(options.config, search=not options.no_config)
        if options.suggestions and not (options.fix or options.diff):
            raise ConfigurationError("--suggestions goes with --fix or --diff", "add one of them")
        self._fixes: Fixes = "none"
        if options.fix or options.diff:
            self._fixes = "suggested" if options.suggestions else "safe"

    def reports(self) -> list[FileReport]:
        """The reports on all files, or on the text from standard input."""
        if STDIN in self._options.paths:
            return [self._standard_input()]
        found = list(find_files(self._options.paths, self._configuration))
        if not found:
            say("there are no texts in the paths")
        bad = [FileReport(path=f.path.as_posix(), problem=f.problem) for f in found if f.problem]
        jobs = [self._job(each) for each in found if not each.problem]
        processes = self._options.jobs or processors()
        with termination_interrupts(), closing(check_files(jobs, processes)) as reports:
            return [*bad, *reports]

    def _standard_input(self) -> FileReport:
        if len(self._options.paths) > 1:
            raise ConfigurationError("- stands alone", "check the files in another call")
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] # a caller can close it
            raise ConfigurationError("standard input is closed", "pipe a text into it")
        name = Path(self._options.stdin_filename or STDIN)
        return check_file(self._job(Found(name), write=False), sys.stdin.buffer.read())

    def finish(self, reports: Sequence[FileReport]) -> int:
        """Print the reports, and tell the exit code."""
        with printing() as stream:
            printed = self._printed(reports)
            stream.writelines(map(visible, printed) if stream.isatty() else printed)
        complaints = (line for report in reports for line in _complaints(report))
        for line in dict.fromkeys(complaints):
            say(line)
        if told := summary(reports, written=not self._options.diff):
            say(told)
        if any(report.failed for report in reports):
            return FAILED
        left = any(r.diff if self._options.diff else r.diagnostics for r in reports)
        return FOUND if left and not self._options.exit_zero else CLEAN

    def _printed(self, reports: Sequence[FileReport]) -> Iterable[str]:
        """What goes to standard output."""
        if self._options.diff:
            return (report.diff for report in reports)
        lines = (f"{line}\n" for line in _REPORTS[self._options.format](reports))
        if self._options.fix and self._options.paths == [STDIN]:
            # Standard output is the text, as of a filter, in the encoding of the input.
            sys.stderr.writelines(lines)
            for report in reports:
                sys.stdout.buffer.write(report.data)
            return ()
        return lines

    def _job(self, found: Found, *, write: bool = True) -> CheckJob:
        path = found.path
        rules = self._configuration.rules_in(path.parent)
        told = self._options.as_format
        return CheckJob(
            path=path,
            root=found.root,
            rules=rules.choice_for(path, self._select).without(self._ignore),
            words=rules.words,
            format=Format(told) if told else rules.format_of(path),
            named=found.named,
            fixes=self._fixes,
            min_style=self._options.min_style,
            write=write and self._options.fix and not self._options.diff,
        )


def _names(given: Sequence[str]) -> list[str]:
    return [name for part in given for name in part.split(",") if name.strip()]


def _complaints(report: FileReport) -> Iterator[str]:
    for told in (report.problem, *report.notes):
        if told:
            yield f"{flat(report.path)}: {flat(told)}"
    yield from map(flat, report.degraded)
