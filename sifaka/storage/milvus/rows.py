"""Versions of runs as rows: whole, and as words that every server finds alike."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from sifaka.errors import StorageError
from sifaka.record.entries import Drafted, Started
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.storage import bm25
from sifaka.storage.entry_json import decode_entries, encode_draft
from sifaka.storage.milvus.client import Row
from sifaka.storage.milvus.schema import MOST_BYTES
from sifaka.storage.timestamps import to_microseconds

CHUNK_BYTES = 60_000
"""The share of a version that a row takes: a VARCHAR holds 65,535 bytes."""
_WORD = re.compile(r"[^\W_]+")
_LONGEST_WORD = 64


def tenant_key(tenant: str) -> str:
    """A tenant's name as 64 hexadecimal digits, which need no quoting in a condition."""
    return sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()


def run_key(tenant: str, run_id: str) -> str:
    """A run of a tenant as 64 hexadecimal digits."""
    return sha256(json.dumps([tenant, run_id]).encode()).hexdigest()


def version_key(key: str, number: int) -> str:
    """The nth version of a run, from 0 on."""
    return f"{key}:{number}"


def thought_rows(
    tenant: str, run: Run, *, first: int, expires_at: int
) -> list[Mapping[str, object]]:
    """The rows that hold the versions of a run from the nth on, whole."""
    key = run_key(tenant, run.run_id)
    rows: list[Mapping[str, object]] = []
    for number, thought in enumerate(run.thoughts[first:], first):
        parts = split_bytes(encode_version(run, thought))
        rows += [
            {
                "pk": f"{version_key(key, number)}:{chunk}",
                "tenant": tenant_key(tenant),
                "run": key,
                "run_id": run.run_id,
                "number": number,
                "chunk": chunk,
                "chunks": len(parts),
                "at": to_microseconds(thought.created_at),
                "expires_at": expires_at,
                "passed": int(run.passed),
                "tags": json.dumps(run.tags),
                "payload": part,
                "unused": [0.0, 0.0],
            }
            for chunk, part in enumerate(parts)
        ]
    return rows


def word_rows(tenant: str, run: Run, *, first: int) -> list[Mapping[str, object]]:
    """The rows by which full-text search finds versions; the task counts half."""
    key, task = run_key(tenant, run.run_id), fold(run.prompt)
    rows: list[Mapping[str, object]] = []
    for number, thought in enumerate(run.thoughts[first:], first):
        text = fold(thought.text)
        rows.append(
            {
                "pk": version_key(key, number),
                "tenant": tenant_key(tenant),
                "run": key,
                "at": to_microseconds(thought.created_at),
                "words": bag_of_words((*text, *text, *task)),
            }
        )
    return rows


def encode_version(run: Run, thought: Thought) -> str:
    """A version with its task as JSON."""
    return json.dumps(
        {"prompt": run.prompt, "drafted": encode_draft(run.run_id, thought)}, ensure_ascii=False
    )


def decode_version(run_id: str, payload: str) -> tuple[str, Drafted]:
    """The task and the version of such a JSON.

    Raises:
        StorageError: It cannot be read.
    """
    try:
        found = json.loads(payload)
        (drafted,) = decode_entries(run_id, [found["drafted"]])
        if isinstance(drafted, Drafted):
            return found["prompt"], drafted
    except (KeyError, TypeError, ValueError):
        pass
    raise StorageError(f"a version of run {run_id!r} cannot be read", "put the run again")


def whole_thoughts(run_id: str, payloads: Sequence[str]) -> tuple[Thought, ...]:
    """The versions of a run, each with its history."""
    if not payloads:
        return ()
    versions = [decode_version(run_id, payload) for payload in payloads]
    started = Started(run_id=run_id, prompt=versions[0][0])
    return Run.replay([started, *(drafted for _, drafted in versions)]).thoughts


def joined(rows: Sequence[Row]) -> dict[str, str]:
    """The payloads of the versions of which every part is there, by key and in order."""
    parts = {(row["run"], row["number"], row["chunk"]): row for row in rows}
    whole: dict[str, str] = {}
    for run, number, chunk in sorted(parts):
        row = parts[run, number, chunk]
        if chunk == 0 and all((run, number, n) in parts for n in range(row["chunks"])):
            texts = [parts[run, number, n]["payload"] for n in range(row["chunks"])]
            whole[version_key(run, number)] = "".join(texts)
    return whole


def split_bytes(text: str) -> list[str]:
    """A text in parts that fit into rows."""
    data = text.encode()
    parts: list[str] = []
    begin = 0
    while begin < len(data):
        end = min(begin + CHUNK_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:  # not in the middle of a character
            end -= 1
        parts.append(data[begin:end].decode())
        begin = end
    return parts


def fold(text: str) -> list[str]:
    """The words of a text without case and accents, each cut to 64 characters."""
    return [word[:_LONGEST_WORD] for word in _WORD.findall(bm25.fold(text).lower())]


def bag_of_words(words: Iterable[str]) -> str:
    """The words as one text that fits into a field.

    When they do not all fit, each is there once before any is repeated: a long text is found by
    all of its words, and how often it has them counts up to where the field is full.
    """
    words = list(words)
    text = " ".join(words)
    if len(text.encode()) <= MOST_BYTES:
        return text
    seen: set[str] = set()
    first: list[str] = []
    again: list[str] = []
    for word in words:
        (again if word in seen else first).append(word)
        seen.add(word)
    kept: list[str] = []
    left = MOST_BYTES
    for word in (*first, *again):
        left -= len(word.encode()) + 1
        if left < 0:
            break
        kept.append(word)
    return " ".join(kept)
