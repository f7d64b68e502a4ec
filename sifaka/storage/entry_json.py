"""Entries as the JSON that stores keep, and runs made of it again."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from typing import TypeVar

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError

from sifaka.errors import StorageError
from sifaka.record.entries import Drafted, Entry, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought

T = TypeVar("T")


def encode_entries(run: Run, entries: Sequence[Entry], expected_version: int) -> tuple[str, ...]:
    """The entries of an append as a store keeps them, one JSON text each.

    Raises:
        ValueError: The arguments contradict each other; what they ask for could never be loaded.
        StorageError: An entry holds something that JSON cannot, such as half a surrogate pair.
    """
    if run.version != expected_version + len(entries):
        raise ValueError("the run is not the one that the entries lead to")
    for seq, entry in enumerate(entries, expected_version + 1):
        if isinstance(entry, Started) != (seq == 1):
            raise ValueError("a run begins with its only `started` entry")
        if isinstance(entry, Started) and entry.run_id != run.run_id:
            raise ValueError("the `started` entry is another run's")
    if expected_version == 0 and not entries:
        raise ValueError("a run begins with a `started` entry")
    return tuple(
        _encode(run.run_id, seq, entry) for seq, entry in enumerate(entries, expected_version + 1)
    )


def encode_draft(run_id: str, thought: Thought) -> str:
    """A version as an index keeps it, without the history that earlier versions hold."""
    return _encode(run_id, 0, Drafted(thought=thought, at=thought.created_at))


def batches(items: Iterable[tuple[T, int]], *, size: int, count: int) -> Iterator[list[T]]:
    """Items, each with its size, in lists that a server takes: of so much together, and so many."""
    batch: list[T] = []
    total = 0
    for item, length in items:
        if batch and (total + length > size or len(batch) == count):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += length
    if batch:
        yield batch


def run_key(tenant: str, run_id: str) -> str:
    """A run of a tenant as 64 hexadecimal digits, for indexes: their ids are short and plain."""
    # Half a surrogate pair is the id of no run, and is looked up like any other.
    return sha256(json.dumps([tenant, run_id]).encode()).hexdigest()


def encode_version(run: Run, thought: Thought) -> str:
    """A version with its task, for an index that has a value for both."""
    version = {"prompt": run.prompt, "drafted": encode_draft(run.run_id, thought)}
    return json.dumps(version, ensure_ascii=False)


def decode_version(run_id: str, payload: str) -> tuple[str, Drafted]:
    """The task and the version that `encode_version` has encoded.

    Raises:
        StorageError: It cannot be read.
    """
    try:
        version = json.loads(payload)
        (drafted,) = decode_entries(run_id, [version["drafted"]])
        if isinstance(drafted, Drafted):
            return version["prompt"], drafted
    except (KeyError, TypeError, ValueError):
        pass
    raise StorageError(f"a version of run {run_id!r} cannot be read", "put the run again")


def whole_thoughts(run_id: str, versions: Iterable[Entry]) -> tuple[Thought, ...]:
    """The versions of a run, each with the history that their encoding leaves out."""
    return Run.replay([Started(run_id=run_id), *versions]).thoughts


def decode_entries(
    run_id: str, payloads: Iterable[str | bytes], *, after: int = 0
) -> Iterator[Entry]:
    """Stored entries, one by one.

    Args:
        run_id: The run.
        payloads: The JSON of each.
        after: The number of the run's entries before them.

    Raises:
        StorageError: An entry cannot be read.
    """
    for seq, payload in enumerate(payloads, after + 1):
        try:
            yield _adapter().validate_json(payload)
        except ValueError as error:
            raise _entry_error(run_id, seq) from error


def replay_run(run_id: str, payloads: Iterable[str | bytes]) -> Run:
    """The run after its stored entries.

    Raises:
        StorageError: An entry cannot be read or does not fit the ones before it.
    """
    run: Run | None = None
    for entry in decode_entries(run_id, payloads):
        run = apply_entry(run_id, run, entry)
    if run is None:
        raise _entry_error(run_id, 0)
    return run


def apply_entry(run_id: str, run: Run | None, entry: Entry) -> Run:
    """The run after one more of its stored entries; None is the run before the first.

    Raises:
        StorageError: The entry does not fit the ones before it.
    """
    try:
        return run.apply(entry) if run else Run.replay([entry])
    except (KeyError, ValueError) as error:
        raise _entry_error(run_id, run.version + 1 if run else 1) from error


def extended(run: Run | None, entries: Iterable[Entry]) -> Run | None:
    """The run after further entries, None before the first; None when they do not continue it."""
    try:
        for entry in entries:
            run = run.apply(entry) if run else Run.replay([entry])
    except (KeyError, ValueError):
        return None
    return run


def _entry_error(run_id: str, seq: int) -> StorageError:
    return StorageError(
        f"entry {seq} of run {run_id!r} cannot be read",
        "it is damaged or was written by a newer release; other runs are not affected",
    )


def _encode(run_id: str, seq: int, entry: Entry) -> str:
    # The history of a version that has a parent is left out: it grows with every iteration and
    # `Run.apply` rebuilds it. Defaults are kept, at some 500 bytes a version: without
    # them `kind` would be gone, and a later release with another default would change old runs.
    # A thought that was saved by itself is in a run that has none of its parents.
    draft = entry.thought if isinstance(entry, Drafted) else None
    rebuilt = draft and draft.parent_id is not None and draft.run_id == run_id
    try:
        return entry.model_dump_json(exclude={"thought": {"history"}} if rebuilt else None)
    except PydanticSerializationError as error:
        raise StorageError(
            f"entry {seq} of run {run_id!r} cannot be stored: {error}",
            "remove what is not valid Unicode or JSON",
        ) from error


@cache
def _adapter() -> TypeAdapter[Entry]:
    return TypeAdapter(Entry)
