"""Versions of runs as rows: whole, and as words that every server finds alike."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

from sifaka.record.run import Run
from sifaka.storage.cursor import to_microseconds
from sifaka.storage.entry_json import encode_version, run_key
from sifaka.storage.milvus.client import Row
from sifaka.storage.milvus.schema import MOST_BYTES
from sifaka.text.search_terms import language_of, text_terms

ROW_CHARS = 16_000
"""The share of a version that a row takes: a VARCHAR holds 65,535 bytes, a character up to 4."""


def tenant_key(tenant: str) -> str:
    """A tenant's name as 64 hexadecimal digits, which need no quoting in a condition."""
    return sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()


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
        text = encode_version(run, thought)
        parts = [text[begin : begin + ROW_CHARS] for begin in range(0, len(text), ROW_CHARS)]
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
    words = (*terms, *terms, *text_terms(prompt, language))
    return bag_of_words([plain(word) for word in words])


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


def plain(term: str) -> str:
    """A term in letters and digits alone, which no server cuts: some cut words at marks."""
    return term if term.isalnum() else f"x{term.encode(errors='replace').hex()}"


def bag_of_words(words: Sequence[str]) -> str:
    """The words as one text that fits into a field.

    When they do not all fit, each is there once before any is repeated: a long text is found by
    all of its words, and how often it has them counts up to where the field is full.
    """
    if sum(len(word.encode()) + 1 for word in words) > MOST_BYTES:
        words = [*dict.fromkeys(words), *words]
    kept: list[str] = []
    left = MOST_BYTES
    for word in words:
        left -= len(word.encode()) + 1
        if left < 0:
            break
        kept.append(word)
    return " ".join(kept)
