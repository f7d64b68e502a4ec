"""The door to the workers: what stays here, what goes, and what ends with its caller."""

import asyncio
import os
from pathlib import Path

import pytest

from sifaka.classifiers import Classification, classified
from sifaka.classifiers.sentiment import SentimentClassifier
from sifaka.isolation import SHORT, pool, run_limited, run_limited_in_thread
from sifaka.record.results import ValidationResult
from sifaka.record.thought import Thought
from sifaka.validators.execution import run_validators
from sifaka.validators.spec import LimitedSpec

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True, scope="module")
def _own_workers() -> None:
    """Those of servers in the same process would take some of the work."""
    # Only tests part from their workers: nothing public does it.
    pool._pool.cache_clear()  # pyright: ignore[reportPrivateUsage]


async def test_a_short_text_stays_here_and_a_long_one_goes() -> None:
    assert await run_limited(os.getpid, size=SHORT) == os.getpid()
    assert await run_limited(os.getpid, size=SHORT + 1) != os.getpid()
    assert run_limited_in_thread(os.getpid, size=SHORT) == os.getpid()
    assert run_limited_in_thread(os.getpid, size=SHORT + 1) != os.getpid()


def tell_and_burn(path: str) -> None:
    with Path(path).open("w") as pipe:
        pipe.write("begun\n")
        pipe.flush()
        while True:
            pass


class Burning(SentimentClassifier):
    """Takes for ever."""

    def classify(self, text: str) -> Classification:
        tell_and_burn(text.strip())
        raise AssertionError


class BurningValidator(LimitedSpec):
    """Takes for ever."""

    def check(self, thought: Thought) -> ValidationResult:
        tell_and_burn(thought.text.strip())
        raise AssertionError


@pytest.mark.slow
@pytest.mark.parametrize("part", ["classifier", "validator"])
async def test_work_on_a_long_text_ends_with_its_caller(
    tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    text = f"{path}{' ' * SHORT}"
    monkeypatch.setattr("sifaka.classifiers._OWN", __name__)
    work = (
        classified(Burning(), text)
        if part == "classifier"
        else run_validators([BurningValidator()], Thought(text=text))
    )
    task = asyncio.ensure_future(work)
    with await asyncio.wait_for(asyncio.to_thread(path.open), 30) as pipe:
        assert pipe.readline() == "begun\n"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The end of the pipe is the end of the process.
        assert await asyncio.wait_for(asyncio.to_thread(pipe.readline), 30) == ""
