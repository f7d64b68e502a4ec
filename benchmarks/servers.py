"""The two servers that are compared, as children: ours and the bare SDK's."""

import os
import re
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
SIFAKA = (sys.executable, "-m", "sifaka_mcp")
BARE = (sys.executable, str(Path(__file__).with_name("echo_server.py")))


def environment(home: str) -> dict[str, str]:
    """The environment of a child: ours, without settings, with its own home, and no model."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SIFAKA_")}
    return {**kept, "SIFAKA_HOME": home, "SIFAKA_EMBEDDING_MODEL": "none"}


@contextmanager
def listening(command: tuple[str, ...], env: Mapping[str, str]) -> Generator[str]:
    """A server on HTTP; the URL it says it listens on."""
    with started(command, env) as (url, _):
        yield url


@contextmanager
def started(command: tuple[str, ...], env: Mapping[str, str]) -> Generator[tuple[str, int]]:
    """A server on HTTP; the URL it says it listens on, and its process."""
    with subprocess.Popen(command, env=env, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            found = re.search(r"http://\S+", process.stderr.readline())
            assert found, "the server did not start"
            yield found.group(), process.pid
        finally:
            process.kill()
