"""`python -m tests.conformance`: our server as programs of other people see it.

- The official conformance suite, against our HTTP application with the suite's fixtures registered
  beside our own tools, by the requirements of each revision of the protocol, without tokens and
  with one. What it is known to fail stands in `expected-failures.yaml`, each with its reason. With
  sessions it fails nothing.
  What a revision does not count is run too and told apart: most of that are scenarios of the tasks
  extension, which want tools that sleep and ask, and ours makes tasks of nothing but runs.
- The same suite against the product alone. Most of its scenarios ask for tools, resources and
  prompts of its own, which no product has; those that pass are in `product-alone.yaml`.
- MCP Inspector on the command line, strict about schemas, over both transports in both eras.
- Clients of both TypeScript SDKs, which work through a whole run as a calling agent does.

The programs are those of `package-lock.json`; `make conformance` installs them. Prints one line for
each part, and what a part printed if it failed; exits with 1 if one did.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from tests.conformance.inspector import Era, inspect
from tests.conformance.outcome import Outcome
from tests.conformance.programs import with_bearer
from tests.conformance.sdks import CLIENTS, drive
from tests.conformance.suite import REVISIONS, alone, requirements
from tests.stubs.servers import environment, http_server

_MOST_LINES = 40
"""Of what a part printed, from its end."""
_FIXTURES = "tests.conformance.fixtures.server"
_ERAS: tuple[Era, ...] = ("legacy", "modern")


def main() -> int:
    """Run all of it; the exit code."""
    began, outcomes = time.monotonic(), list[Outcome]()
    for outcome in _outcomes():
        outcomes.append(outcome)
        details = [] if outcome.passed else outcome.details.splitlines()[-_MOST_LINES:]
        sys.stdout.write("\n    ".join([str(outcome), *details]) + "\n")
        sys.stdout.flush()
    passed = sum(outcome.passed for outcome in outcomes)
    seconds = time.monotonic() - began
    sys.stdout.write(f"{passed} of {len(outcomes)} parts pass; {seconds:.0f} s\n")
    return 0 if passed == len(outcomes) else 1


def _outcomes() -> Iterable[Outcome]:
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        with http_server(home, _FIXTURES) as (url, _):
            for revision in REVISIONS:
                yield requirements(revision, url, home)
        tokens = home / "tokens"
        bearer = with_bearer(_token(tokens, home))
        with http_server(home, _FIXTURES, SIFAKA_AUTH_TOKENS_FILE=str(tokens)) as (url, _):
            for revision in REVISIONS:
                yield requirements(revision, url, home, called=" with a token", more=bearer)
        with http_server(home, _FIXTURES, SIFAKA_SESSIONS="on") as (url, _):
            for revision in REVISIONS:
                yield requirements(revision, url, home, called=" with sessions", baseline=False)
        with http_server(home) as (url, _):
            for revision in REVISIONS:
                yield alone(revision, url, home)
            stdio = (sys.executable, "-m", "sifaka_mcp")
            for transport, server in (("stdio", stdio), ("http", (url,))):
                for era in _ERAS:
                    yield inspect(transport, era, server, home)
                for client, protocol in CLIENTS:
                    yield drive(client, protocol, transport, server, home)


def _token(tokens: Path, home: Path) -> str:
    """A token that is let in by the tokens of a file."""
    made = subprocess.run(
        [sys.executable, "-m", "sifaka_mcp.cli", "token", "conformance"],
        env=environment(home, SIFAKA_AUTH_TOKENS_FILE=str(tokens)),
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
