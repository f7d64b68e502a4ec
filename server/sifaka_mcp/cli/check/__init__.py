"""`sifaka check`: the mistakes in files, as a linter reports them."""

import argparse
import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from sifaka.editor.rules import explanations, rule_choice, wants
from sifaka.errors import ConfigurationError, SifakaError
from sifaka.record.entries import Fixes
from sifaka.text.formats import Format
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.check.files import Found, find_files
from sifaka_mcp.cli.check.jobs import (
    CheckJob,
    FileReport,
    check_file,
    check_files,
    processors,
)
from sifaka_mcp.cli.check.new_findings import changed_since, new_alone, not_in
from sifaka_mcp.cli.check.reports import Report, as_github, as_json, as_lines, as_sarif, summary
from sifaka_mcp.cli.process import (
    STDIO,
    interruptible,
    print_lines,
    printing,
    say,
    standard_input,
)
from sifaka_mcp.cli.session import Session
from sifaka_mcp.safe_text import flat, visible
from sifaka_mcp.settings.project_rules import FORMATS, ProjectRules

CLEAN, FOUND, FAILED = 0, 1, 2
"""Exit codes: nothing was found, something was, something could not be checked or is wrong."""
_REPORTS: Mapping[str, Report] = {
    "text": as_lines,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
_MOST_JOBS = 256
_rules = partial(opt.argument, type=opt.names, action="extend", metavar="RULES")


@opt.command(
    opt.argument(
        "paths", metavar="PATH", nargs="*", help="files and folders; - reads standard input"
    ),
    opt.argument("--fix", action="store_true", help="write the fixes that are certain"),
    opt.argument(
        "--suggestions", action="store_true", help="with --fix or --diff, suggested fixes as well"
    ),
    opt.argument("--diff", action="store_true", help="print the fixes, and write nothing"),
    _rules("--select", help="these rules alone, such as spelling"),
    opt.argument(
        "--min-style",
        type=opt.whole_number(0, 100),
        default=0,
        metavar="N",
        help="texts of which the critic `style` says less than N, of 100, fail",
    ),
    _rules("--ignore", default=[], help="not these rules"),
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
    _rules("--fail-on", help="findings of these rules alone are"),
    opt.either(
        opt.argument(
            "--baseline", metavar="FILE", type=Path, help="leave out what is in this JSON report"
        ),
        opt.argument(
            "--since", metavar="REV", help="only the lines changed since this revision of git"
        ),
    ),
    opt.argument(
        "--explain", metavar="RULE", help="say what a rule finds, with an example, and end"
    ),
    opt.argument(
        "--jobs",
        type=opt.whole_number(1, _MOST_JOBS),
        metavar="N",
        help="processes; as many as there are processors when left out",
    ),
)
def check(session: Session) -> int:
    """Print what is wrong in the files; 0 when nothing is, 1 when something is, 2 on an error."""
    options = session.options
    try:
        if options.explain:
            print_lines(_describe_rules(options.explain))
            return CLEAN
        return _Command(options).run()
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
        self._select = None if options.select is None else rule_choice(options.select)
        self._fatal = None if options.fail_on is None else rule_choice(options.fail_on)
        self._ignore = rule_choice(ignore=options.ignore).ignore
        self._project = ProjectRules(options.config, search=not options.no_config)
        if options.suggestions and not (options.fix or options.diff):
            raise ConfigurationError("--suggestions goes with --fix or --diff", "add one of them")
        if not options.paths:
            raise ConfigurationError("there is nothing to check", "name files or folders, or -")
        if (options.since or options.baseline) and (options.fix or options.diff):
            raise ConfigurationError(
                "fixes are made in the whole of a file", "leave --since and --baseline out"
            )
        if options.since and STDIO in options.paths:
            raise ConfigurationError("git knows no standard input", "name the file")
        self._fixes: Fixes = "none"
        if options.fix or options.diff:
            self._fixes = "suggested" if options.suggestions else "safe"

    def run(self) -> int:
        """Print the reports on all files, or on standard input, and return the exit code."""
        options = self._options
        is_new = None  # an error in it is reported before any work is done
        if options.since:
            is_new = changed_since(options.since)
        elif options.baseline:
            is_new = not_in(options.baseline)
        reports = self._check_paths()
        if is_new is not None:
            reports = new_alone(reports, is_new)
        with printing() as stream:
            output = self._format_output(reports)
            stream.writelines(map(visible, output) if stream.isatty() else output)
        for line in dict.fromkeys(line for report in reports for line in _list_problems(report)):
            say(line)
        if message := summary(reports, written=not options.diff):
            say(message)
        if any(report.failed for report in reports):
            return FAILED
        has_findings = any(r.diff if options.diff else self._has_failure(r) for r in reports)
        return FOUND if has_findings and not options.exit_zero else CLEAN

    def _check_paths(self) -> list[FileReport]:
        if STDIO in self._options.paths:
            return [self._check_stdin()]
        files = list(find_files(self._options.paths, self._project))
        if not files:
            say("there are no texts in the paths")
        bad = [FileReport(path=f.shown, problem=f.problem) for f in files if f.problem]
        jobs = [self._make_job(each) for each in files if not each.problem]
        processes = self._options.jobs or processors()
        with interruptible(), closing(check_files(jobs, processes)) as reports:
            return [*bad, *reports]

    def _check_stdin(self) -> FileReport:
        if len(self._options.paths) > 1:
            raise ConfigurationError("- stands alone", "check the files in another call")
        file = Found(Path(self._options.stdin_filename or STDIO))
        job = self._make_job(file, write=False)
        return check_file(job, standard_input("pipe a text into it").buffer.read())

    def _has_failure(self, report: FileReport) -> bool:
        """True when there is a finding that is a failure."""
        return any(self._fatal is None or wants(self._fatal, d.rule) for d in report.diagnostics)

    def _format_output(self, reports: Sequence[FileReport]) -> Iterable[str]:
        """What goes to standard output."""
        if self._options.diff:
            return (report.diff for report in reports)
        lines = (f"{line}\n" for line in _REPORTS[self._options.format](reports))
        if self._options.fix and self._options.paths == [STDIO]:
            # Standard output is the text, as of a filter, in the encoding of the input.
            sys.stderr.writelines(lines)
            for report in reports:
                sys.stdout.buffer.write(report.data)
            return ()
        return lines

    def _make_job(self, file: Found, *, write: bool = True) -> CheckJob:
        path = file.path
        rules = self._project.rules_in(path.parent)
        name = self._options.as_format
        return CheckJob(
            file=file,
            rules=rules.choice_for(path, self._select).without(self._ignore),
            format=Format(name) if name else rules.format_of(path),
            fixes=self._fixes,
            min_style=self._options.min_style,
            write=write and self._options.fix and not self._options.diff,
        )


def _describe_rules(name: str) -> Iterator[str]:
    """What a rule finds, or each rule of a group."""
    for each in explanations(name):
        yield f"{each.rule} ({each.group}): {each.what}"
        yield from (
            f"  {label}: {text}"
            for label, text in (("found in", each.wrong), ("mended", each.right))
            if text
        )


def _list_problems(report: FileReport) -> Iterator[str]:
    problems = filter(None, (report.problem, *report.notes))
    yield from (f"{flat(report.path)}: {flat(each)}" for each in problems)
    yield from map(flat, report.degraded)
