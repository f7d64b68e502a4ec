"""Runs whose process was killed come out as if nothing had happened; `make crashes` tries more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(520)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the processes are forked")
@pytest.mark.servers  # for the minute that it takes
def test_a_killed_run_is_resumed_to_the_very_same_end_and_asks_nothing_twice() -> None:
    command = [sys.executable, "-m", "tests.crashes", "--points", "40"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 problems" in done.stdout
