"""A process whose files must not grow beyond 64 KB: what it is told, and what it can still do."""

import resource
import sys

import anyio

from sifaka.errors import StorageError
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage.files import FileStorage


async def append_too_much(folder: str) -> None:
    store = FileStorage(folder)
    started = Started(run_id="run_1")
    run = Run.start(started)
    await store.append(run, [started], expected_version=0)
    for text in ("x" * 50_000, "y" * 50_000, "z" * 5_000):
        entry = Drafted(thought=Thought(run_id="run_1", iteration=len(run.thoughts), text=text))
        after = run.apply(entry)
        try:
            await store.append(after, [entry], expected_version=run.version)
        except StorageError as error:
            sys.stdout.write(f"{error}\n")
        else:
            run = after
    huge = Started(run_id="run_2", prompt="p" * 70_000)
    try:
        await store.append(Run.start(huge), [huge], expected_version=0)
    except StorageError as error:
        sys.stdout.write(f"{error}\n")


resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
anyio.run(append_too_much, sys.argv[1])
