"""The official conformance suite, against our server with the suite's fixtures."""

import json
import re
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.outcome import Outcome
from tests.conformance.programs import FOLDER, Finished, run

REVISIONS = ("2025-11-25", "2026-07-28")
"""The revisions of the protocol whose requirements the suite knows."""
_BASELINE = FOLDER / "expected-failures.yaml"
_ALONE = FOLDER / "product-alone.yaml"
_REQUIREMENTS = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "requirements"
_SCENARIO = re.compile(
    r"^[✓✗] (?P<name>\S+): (?P<good>\d+) passed, (?P<bad>\d+) failed", re.MULTILINE
)

_TIMEOUT = ":scenario-timeout: "
_UNEXPECTED = re.compile(r"^  ✗ ([^\s:]+)(?::\S+)?$", re.MULTILINE)
"""What the suite lists at its end; a warning counts there, too."""


def requirements(
    revision: str,
    url: str,
    home: Path,
    *,
    called: str = "",
    more: Mapping[str, str] | None = None,
    baseline: bool = True,
    again: bool = True,
) -> Outcome:
    """What a revision of the protocol requires, run at that revision.

    Where nothing is wrong but that scenarios took longer than the suite's 30 seconds, it is run
    once more: what hangs, hangs each time.

    Args:
        revision: One of `REVISIONS`.
        url: Where the server with the fixtures listens.
        home: Where results are kept.
        called: What to add to the name of this part.
        more: Further variables for the suite's environment.
        baseline: True where what is expected to fail may fail.
        again: False to take a scenario that was not done in time as wrong.
    """
    results = home / f"results-{revision}{called.replace(' ', '-')}"
    command: list[str | Path] = ["conformance", "server", "--url", url]
    command += ["--requirements", revision, "-o", results]
    if baseline:
        command += ["--expected-failures", _BASELINE]
    finished = run(command, home, more)
    counts = {m["name"]: (int(m["good"]), int(m["bad"])) for m in _SCENARIO.finditer(finished.out)}
    # Where nothing could be tried, the suite finds nothing wrong.
    passed = {name for name, (good, bad) in counts.items() if good and not bad}
    required = set(_required(revision))
    optional = counts.keys() - required
    explained = (required - passed) & _explained() if baseline else set[str]()
    says = f"{len(passed & required)} of {len(required)} required scenarios pass"
    if explained:
        says += f", {len(explained)} do not as {_BASELINE.name} explains"
    says += f"; {len(passed & optional)} of {len(optional)} that do not count pass"
    unexplained = (required - passed - explained) | set(_UNEXPECTED.findall(finished.out))
    findings = list(_findings(results, unexplained))
    if again and findings and all(_TIMEOUT in finding for finding in findings):
        second = home / "again"
        second.mkdir()
        return requirements(
            revision, url, second, called=called, more=more, baseline=baseline, again=False
        )
    if wrong := _wrong(finished, unexplained):
        says = f"{wrong}; {says}"
    return Outcome(
        name=f"conformance suite, {revision}{called}",
        passed=wrong is None,
        says=says,
        details="\n".join(findings) or finished.everything,
    )


def alone(revision: str, url: str, home: Path) -> Outcome:
    """The same requirements, of the product without the suite's fixtures.

    It passes when exactly those scenarios pass that are listed.
    """
    results = home / f"alone-{revision}"
    command = ["conformance", "server", "--url", url, "--requirements", revision, "-o", results]
    finished = run(command, home)
    required = set(_required(revision))
    counts = {m["name"]: (int(m["good"]), int(m["bad"])) for m in _SCENARIO.finditer(finished.out)}
    passed = {name for name, (good, bad) in counts.items() if good and not bad} & required
    listed: dict[str, list[str]] = yaml.safe_load(_ALONE.read_text(encoding="utf-8"))
    wrong = passed ^ set(listed[revision])
    says = f"{len(passed)} of {len(required)} required scenarios pass without fixtures"
    if wrong:
        says = f"otherwise than {_ALONE.name} has it: {', '.join(sorted(wrong))}; {says}"
    return Outcome(
        name=f"conformance suite, {revision}, the product alone",
        passed=finished.code is not None and not wrong,
        says=says if finished.code is not None else finished.last_words,
        details=finished.everything,
    )


def _wrong(finished: Finished, unexplained: Set[str]) -> str | None:
    if finished.code is None:
        return finished.last_words
    if unexplained:
        return f"fails {', '.join(sorted(unexplained))}"
    if finished.code != 0:
        return f"something in {_BASELINE.name} passes by now"
    return None


def _required(revision: str) -> Iterable[str]:
    text = (_REQUIREMENTS / f"{revision}.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["server"]


def _explained() -> Set[str]:
    """The scenarios whose failure, or that of one of their checks, is expected."""
    entries: list[str] = yaml.safe_load(_BASELINE.read_text(encoding="utf-8"))["server"]
    return {entry.partition(":")[0] for entry in entries}


def _findings(results: Path, scenarios: Set[str]) -> Iterable[str]:
    """What was found wrong, a line each."""
    for scenario in sorted(scenarios):
        for path in results.glob(f"server-{scenario}-2*/checks.json"):
            checks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
            for check in checks:
                if check["status"] in {"FAILURE", "WARNING"}:
                    reason = check.get("errorMessage") or check.get("details")
                    yield f"{scenario}:{check['id']}: {reason}"
