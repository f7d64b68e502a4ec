import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sifaka.record.run import Run
from sifaka.storage.files import FileStorage

pytestmark = pytest.mark.anyio
Begin = Callable[..., Awaitable[Run]]
HERE = Path(__file__).parent


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


async def test_what_was_acknowledged_survives_kill_9_in_twenty_rounds(tmp_path: Path) -> None:
    acknowledged: dict[str, int] = {}
    rounds = [f"run_{number}" for number in range(20)]
    for batch in (rounds[:10], rounds[10:]):
        processes = [start("append_until_killed.py", str(tmp_path), run_id) for run_id in batch]
        for number, (run_id, process) in enumerate(zip(batch, processes, strict=True)):
            with process:
                assert process.stdout
                lines = [process.stdout.readline() for _ in range(1 + 3 * number)]
                process.kill()
                # What it said before it died counts as well; a line that is cut off does not.
                lines += [line for line in process.stdout if line.endswith("\n")]
            acknowledged[run_id] = int(lines[-1])

    store = FileStorage(tmp_path)
    for run_id, version in acknowledged.items():
        run = await store.load(run_id)
        # Two entries more at most, and never one of the two.
        assert run.version in {version, version + 2}
        assert [thought.text for thought in run.thoughts] == [
            f"{n} " * 400 for n in range(1, run.version, 2)
        ]
        assert run.undecided == ()


async def test_claims_of_four_processes_are_all_different_and_no_append_is_lost(
    tmp_path: Path, begin: Begin
) -> None:
    store = FileStorage(tmp_path)
    await begin(store)
    processes = [start("claim_together.py", str(tmp_path), name, "10") for name in "abcd"]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    fences = [int(n) for process in processes for n in process.communicate(timeout=60)[0].split()]
    assert [process.returncode for process in processes] == [0, 0, 0, 0]

    assert sorted(fences) == list(range(1, len(fences) + 1))
    texts = [thought.text for thought in (await store.load("run_1")).thoughts]
    assert sorted(texts) == sorted(f"{name}:{n}" for name in "abcd" for n in range(10))
    assert await store.claim("run_1") == len(fences) + 1
