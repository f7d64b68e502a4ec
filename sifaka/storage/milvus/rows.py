"""Versions of runs as rows: whole, and as words that every server finds alike."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from sifaka.record.run import Run
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.entry_json import encode_version
from sifaka.storage.milvus.client import Row
from sifaka.storage.milvus.schema import MOST_BYTES
from sifaka.text.terms import language_of, text_terms

CHUNK_BYTES = 60_000
"""The share of a version that a row takes: a VARCHAR holds 65,535 bytes."""


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
    key = run_key(tenant, run.run_id)
    return [
        {
            "pk": version_key(key, number),
            "tenant": tenant_key(tenant),
            "run": key,
            "at": to_microseconds(thought.created_at),
            "words": _weighted_terms(thought.text, run.prompt),
        }
        for number, thought in enumerate(run.thoughts[first:], first)
    ]


def _weighted_terms(text: str, prompt: str) -> str:
    language = language_of(text, prompt)
    terms = text_terms(text, language)
    return bag_of_words(map(plain, (*terms, *terms, *text_terms(prompt, language))))


def joined(rows: Sequence[Row]) -> dict[str, str]:
    """The payloads of the versions of which every part is there, by key and in order."""
    parts = {(row["run"], row["number"], row["chunk"]): row for row in rows}
    whole: dict[str, str] = {}
    for run, number, chunk in sorted(parts):
        if chunk == 0:
            count = parts[run, number, 0]["chunks"]
            found = [parts[run, number, n] for n in range(count) if (run, number, n) in parts]
            if len(found) == count:
                whole[version_key(run, number)] = "".join(part["payload"] for part in found)
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


def plain(term: str) -> str:
    """A term in letters and digits alone, which no server cuts: some cut words at marks."""
    return term if term.isalnum() else f"x{term.encode(errors='replace').hex()}"


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
