"""The work on each file, in this process or in several."""

import difflib
import logging
import multiprocessing
import os
import re
import signal
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.synchronize import Event

from sifaka.editor.report import read_ahead
from sifaka.errors import ConfigurationError
from sifaka.record.entries import Fixes
from sifaka.record.rule_choice import RuleChoice
from sifaka.tasks.check import Diagnostic, check
from sifaka.text.formats import Format, recognise
from sifaka_mcp.cli.check.files import Found
from sifaka_mcp.cli.document import TextFile, decode, read_text_file, write_text_file
from sifaka_mcp.safe_text import one_line

BATCH = 16
"""Files that a process is given at once; to start another one takes as long as so few."""
_ending: Event | None = None
"""Set when this process is to do no more; None in a process that works for itself."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckJob:
    """One file, and what to do with it."""

    file: Found
    rules: RuleChoice
    format: Format | None = None
    """Its format; recognised when None."""
    fixes: Fixes = "none"
    min_style: int = 0
    """The least score of the style."""
    write: bool = False
    """True when the fixes are written into the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """What was found in one file."""

    path: str
    """As it is shown, with `/` between folders."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What is left, after the fixes that were made."""
    fixed: int = 0
    """The number of fixes that were made."""
    diff: str = ""
    """The unified diff of the fixes."""
    data: bytes = b""
    """The file with its fixes, where they were not written into it."""
    problem: str | None = None
    """Why it was not checked, or not written; None when all went well."""
    degraded: tuple[str, ...] = ()
    """The checks that could not run, for a reason that has nothing to do with the file."""
    notes: tuple[str, ...] = ()
    """The checks that were left out for this file."""

    @property
    def failed(self) -> bool:
        """True when a part of the work was not done."""
        return bool(self.problem or self.degraded)


def check_files(jobs: Sequence[CheckJob], processes: int) -> Generator[FileReport]:
    """The reports on files, in their order, made by at most so many processes."""
    batches = [jobs[start : start + BATCH] for start in range(0, len(jobs), BATCH)]
    if (processes := min(processes, len(batches))) <= 1:
        for batch in batches:
            yield from _check_batch(batch)
        return
    method = "forkserver" if sys.platform != "win32" else "spawn"
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload([__name__])
    ending = context.Event()
    pool = ProcessPoolExecutor(processes, context, initializer=_prepare_process, initargs=(ending,))
    done = 0
    try:
        for reports in pool.map(_check_batch, batches):
            done += len(reports)
            yield from reports
    except BrokenProcessPool:
        for job in jobs[done:]:
            yield FileReport(
                path=job.file.shown, problem="was not checked, because a process ended early"
            )
    finally:
        ending.set()  # after an interrupt each process ends with the file it is at
        pool.shutdown(cancel_futures=True)


def check_file(job: CheckJob, data: bytes | None = None) -> FileReport:
    """The report on one file; a file that cannot be checked has a report that says why.

    Args:
        job: The file and what to do with it.
        data: The bytes that are checked in place of those of the file.
    """
    try:
        path, root = job.file.path, job.file.root
        return _make_report(read_text_file(path, root) if data is None else decode(path, data), job)
    except ConfigurationError as error:
        problem = str(error)
    except Exception as error:  # a bug in a rule, which must not hide the other files
        logging.getLogger(__name__).debug("%s", job.file.path, exc_info=error)
        problem = f"was not checked, because of a bug in Sifaka ({type(error).__name__})"
    return FileReport(path=job.file.shown, problem=problem)


def _check_batch(jobs: Sequence[CheckJob]) -> list[FileReport]:
    # Held to the end, so that each text is read once.
    _held = read_ahead(each for job in jobs for each in _read_input(job))
    return [check_file(job) for job in jobs if _ending is None or not _ending.is_set()]


def _read_input(job: CheckJob) -> Iterator[tuple[str, Format, RuleChoice]]:
    with suppress(ConfigurationError):  # reported when the file is checked
        text = read_text_file(job.file.path, job.file.root).text
        yield text, job.format or recognise(text, job.file.path), job.rules


def _make_report(file: TextFile, job: CheckJob) -> FileReport:
    look = partial(
        check,
        file.text,
        job.rules,
        format=job.format,
        path=job.file.path,
        min_style=job.min_style,
    )
    try:
        checked = look(fixes=job.fixes)
    except ConfigurationError as error:
        if job.file.named:
            raise
        return FileReport(path=job.file.shown, notes=(str(error),))
    problem = None
    if checked.edits and job.write:
        try:
            write_text_file(file, checked.text)
        except ConfigurationError as error:
            problem = str(error)
            checked = look()
    return FileReport(
        path=job.file.shown,
        diagnostics=checked.diagnostics,
        fixed=len(checked.edits),
        diff="" if job.write else unified_diff(file.text, checked.text, one_line(job.file.shown)),
        data=b"" if job.write or job.fixes == "none" else file.encode(checked.text),
        problem=problem,
        degraded=checked.degraded,
        notes=checked.skipped,
    )


def unified_diff(before: str, after: str, name: str) -> str:
    """The changes in a form that `patch` takes; empty when there are none."""
    if before == after:
        return ""
    lines = difflib.unified_diff(_LINE.findall(before), _LINE.findall(after), name, name)
    end = "\n\\ No newline at end of file\n"
    return "".join(line if line.endswith("\n") else line + end for line in lines)


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _prepare_process(ending: Event) -> None:
    """Prepare a process that checks for another one, and ends when that one has ended."""
    global _ending
    _ending = ending
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
