"""The attacks that tests make, each named by its test: a row says how many of them held."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.attack.table import Row


@dataclass(frozen=True)
class Point:
    """An attack: what must hold, and the tests that make it, as pytest names them."""

    must: str
    tests: tuple[str, ...]


_HTTP, _RUNS, _CLI = "tests/server/http", "tests/server/runs", "tests/server/cli"
_STORAGE, _MODELS = "tests/sifaka/storage", "tests/sifaka/models"
_CHECK = f"{_CLI}/check/test_check_hostile.py"
_SIGNALS = f"{_CLI}/test_streams_and_signals.py"
_FILES = f"{_CLI}/test_files.py"
_LEAVING = f"{_HTTP}/test_cancelling.py"
_WOKEN = "test_a_worker_that_wakes_up_between_two_attempts_makes_no_further_call"

POINTS: Mapping[str, Point] = {
    "SIGTERM while 5 clients wait, in both eras": Point(
        "each is answered `running`",
        (f"{_LEAVING}::test_every_waiting_client_is_told_that_its_run_goes_on",),
    ),
    "retries with one key: after a kill, on other servers, at once": Point(
        "one run, nothing paid twice",
        (f"{_RUNS}/test_idempotency_keys.py",),
    ),
    "a Redis, a file and a folder that moved backwards": Point(
        "no rival is seen, and what this process knows is stored again",
        (f"{_STORAGE}/redis/test_redis_moved_back.py", f"{_STORAGE}/test_moved_back.py"),
    ),
    "two servers with clocks a minute apart": Point(
        "a run is taken from a dead server alone", (f"{_RUNS}/test_clocks.py",)
    ),
    "pickles, forged and altered entries in the queue in Redis": Point(
        "none is loaded, each is refused, counted and acknowledged, the next run is worked on",
        (f"{_RUNS}/test_queue_entries.py",),
    ),
    "a worker that wakes up after its run was taken over": Point(
        "it makes no further call", (f"{_RUNS}/test_clocks.py::{_WOKEN}",)
    ),
    "three resumes at once": Point(
        "nothing is asked twice",
        (f"{_RUNS}/test_servers_that_share_runs.py::test_resumes_at_once_are_one",),
    ),
    "two writers, crashes and lost replies in random order": Point(
        "every log keeps its contract", ("tests/storage_contract/test_log_interleavings.py",)
    ),
    "escape and C1 characters in texts, errors and JSON": Point(
        "none reaches a terminal",
        (
            "tests/server/view/test_terminal.py",
            f"{_SIGNALS}::test_no_terminal_obeys",
            f"{_SIGNALS}::test_no_error_has_what_a_terminal_would_obey",
            f"{_SIGNALS}::test_json_on_a_terminal_has_no_marks_that_reorder_it",
        ),
    ),
    "a store on a read-only mount": Point(
        "it is read", (f"{_FILES}::test_commands_and_tools_read_a_store_that_cannot_be_written",)
    ),
    "hostile HTML, PDF and DOCX": Point(
        "each is read or refused within its limits",
        ("tests/sifaka/evidence/sources/test_folder.py",),
    ),
    "a file that changes, vanishes or becomes a link during --in-place": Point(
        "it is left alone, the result lies beside it", (_FILES,)
    ),
    "links out, loops, pipes and devices in a folder; a folder that turns into a link": Point(
        "no read and no fix is outside, hidden files stay unread",
        (
            "tests/sifaka/_internal/test_safe_open.py",
            f"{_CHECK}::test_nothing_outside_is_read_or_written_through_a_link",
            f"{_CHECK}::test_no_fix_is_written_outside_while_a_folder_and_a_link_change_places",
            "tests/server/test_sources_of_texts.py",
        ),
    ),
    "a repository to check: patterns, files of rules and names that do harm": Point(
        "one line and exit code 2, in little time, and no command of a workflow",
        (f"{_CLI}/check/test_check_patterns.py", _CHECK),
    ),
    "replies that end before their end": Point("none is a version", (f"{_MODELS}/test_drafts.py",)),
    "malformed replies of judges": Point(
        "none is a vote that says no verdict", (f"{_MODELS}/test_votes.py",)
    ),
    "messages on stdio: nested 5,000 deep, garbage, half a character": Point(
        "each is refused and the next is answered",
        ("tests/server/test_transports.py::test_lines_that_are_no_messages_are_refused",),
    ),
    "Host and Origin of other names, ports and proxies": Point(
        "421, 403, or one caller", (f"{_HTTP}/test_names.py",)
    ),
    "floods, guesses, large heads and bodies, slow clients": Point(
        "each is bounded, others are served", (f"{_HTTP}/test_limits.py",)
    ),
    "clients that leave with half a request or while they wait": Point(
        "no error is logged", (f"{_LEAVING}::test_a_client_that_leaves_is_no_error",)
    ),
    "forgotten runs looked for in the raw bytes": Point(
        "no text, word or vector is left",
        (f"{_STORAGE}/retention/test_traces.py", f"{_STORAGE}/milvus/test_milvus_contents.py"),
    ),
    "runs of another tenant, by every tool": Point(
        "they are not found", (f"{_HTTP}/test_tenants.py",)
    ),
    "a sifaka.toml that sets everything there is, in every spelling": Point(
        "nothing of it takes effect, and one line says so", (f"{_CLI}/test_project_files.py",)
    ),
    "texts that give orders": Point(
        "they stand between marks that no author can end", ("tests/server/test_injection.py",)
    ),
}


_SELECTED = "not (servers or wiki or model or browser or hostile)"
"""The slow ones too: what `make test` leaves to `make test-slow`."""


def points(folder: Path) -> Generator[Row]:
    """Run the tests of each point, and tell how many of them held."""
    for number, (fired, point) in enumerate(POINTS.items()):
        report = folder / f"{number}.xml"
        options = ("-n", "2", "-m", _SELECTED, f"--junitxml={report}")
        command = [sys.executable, "-m", "pytest", *options, *point.tests]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if not report.exists():
            said = ended.stderr[-300:] or ended.stdout[-300:]
            yield Row(fired=fired, must=point.must, measured=f"pytest: {said}", held=False)
            continue
        suites = list(ET.parse(report).getroot().iter("testsuite"))  # noqa: S314 - pytest wrote it
        count = {
            name: sum(int(suite.get(name, 0)) for suite in suites)
            for name in ("tests", "failures", "errors", "skipped")
        }
        seconds = sum(float(suite.get("time", 0)) for suite in suites)
        fell = count["failures"] + count["errors"]
        held = count["tests"] - fell - count["skipped"]
        told = f"{held} tests held, {fell} fell, {count['skipped']} were skipped"
        yield Row(
            fired=fired,
            must=point.must,
            measured=f"{told}; {seconds:.0f} s",
            held=ended.returncode == 0 and held > 0,
        )
