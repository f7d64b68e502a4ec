"""The layout of the index, which is written to by an alias, see `Documents`."""

from sifaka.storage.elasticsearch.answers import Json
from sifaka.storage.elasticsearch.connection import HttpConnection

_KEPT: Json = {"type": "object", "enabled": False}
"""Given back as it is and never looked into, whatever its size."""
_WORD: Json = {"type": "keyword", "ignore_above": 8191}
"""The longest that fits into a term of 32,766 bytes whatever its characters."""
_NUMBER: Json = {"type": "long"}
"""Moments too, in microseconds: a `date` keeps milliseconds, a `date_nanos` nothing before 1970."""
_TEXT: Json = {"type": "text", "analyzer": "prose"}
_VERSIONS: Json = {
    "tenant": _WORD,
    "run_id": _WORD,
    "key": {"type": "keyword"},
    "number": _NUMBER,
    "thought_id": _WORD,
    "created_at": _NUMBER,
    "expires_at": _NUMBER,
    "passed": {"type": "boolean"},
    "tags": {"type": "keyword"},
    "text": _TEXT,
    "prompt": _TEXT,
    "excerpt": _KEPT,
    "drafted": _KEPT,
}
_SEARCHING: Json = {
    "analysis": {
        # The standard tokenizer would keep `3.14` whole, which a query for `14` could not find.
        "char_filter": {
            "only_words": {
                "type": "pattern_replace",
                "pattern": "[^\\p{L}\\p{M}\\p{N}]",
                "replacement": " ",
            }
        },
        "filter": {"plurals": {"type": "stemmer", "language": "minimal_english"}},
        "analyzer": {
            "prose": {
                "type": "custom",
                "char_filter": ["only_words"],
                "tokenizer": "standard",
                "filter": ["lowercase", "asciifolding", "plurals"],
            }
        },
    },
    # By default a text of more than a million characters makes the whole search fail.
    "index.highlight.max_analyzed_offset": 100_000_000,
}


def index_of(alias: str) -> str:
    """The name of the index that is made for an alias."""
    return f"{alias}-1"


async def create_index(connection: HttpConnection) -> None:
    """Create the index unless it is there; one that is stays as it is."""
    alias = connection.address.versions
    # A field that a newer release writes is refused instead of guessed at.
    mappings: Json = {"dynamic": "strict", "properties": _VERSIONS}
    body: Json = {"settings": _SEARCHING, "mappings": mappings, "aliases": {alias: {}}}
    answer = await connection.send("PUT", f"/{index_of(alias)}", body)
    if answer.kind != "resource_already_exists_exception":
        answer.checked()
