"""Every console session of the documents is replayed in order; it prints what it shows."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.expected import Names
from tests.docs.markdown import ROOT, RUN, Block, blocks
from tests.stubs.servers import environment

WITH_SESSIONS = tuple(document for document in RUN if blocks(document, "console"))


@pytest.mark.servers  # for the time that so many commands take
@pytest.mark.parametrize("document", WITH_SESSIONS)
def test_the_console_sessions_go_as_shown(document: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environ = environment(tmp_path / "home", COLUMNS="80", PYTHONIOENCODING="utf-8")
    environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
    names = Names()
    for block in blocks(document, "console"):
        for command, shown in _exchanges(block):
            done = subprocess.run(
                ["bash", "-c", names.put_into(command)],
                cwd=tmp_path,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=60,
                check=False,
            )
            names.check_text(shown, done.stdout)


def test_the_tutorial_shows_console_sessions() -> None:
    assert "docs/tutorial.md" in WITH_SESSIONS


def _exchanges(block: Block) -> Iterator[tuple[str, str]]:
    """Each command, with its `> ` continuation lines, and what is shown below it."""
    for part in re.split(r"^\$ ", block.content, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        more = next((n for n, line in enumerate(lines[1:], 1) if not line.startswith(">")), None)
        command = [lines[0], *(line[2:] for line in lines[1:more])]
        yield "\n".join(command), "\n".join(lines[more:] if more else [])
