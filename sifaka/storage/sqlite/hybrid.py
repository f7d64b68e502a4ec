"""Search by words and by meaning at once."""

from dataclasses import dataclass

from sifaka.embeddings.protocol import Vector
from sifaka.storage.fusion import fuse, fused_depth, hybrid_name
from sifaka.storage.protocol import Filters, Hits
from sifaka.storage.sqlite.connection import Connection, transaction
from sifaka.storage.sqlite.embedding import count_missing
from sifaka.storage.sqlite.search import match_expression, rank_by_words, show
from sifaka.storage.sqlite.vectors import find_table, nearest


@dataclass(frozen=True, slots=True)
class Question:
    """A query in words and as a vector."""

    words: str
    model_id: str
    vector: Vector


def search_both(
    connection: Connection, tenant: str, question: Question, limit: int, only: Filters
) -> Hits:
    """The versions that share words or meaning with the query, best first.

    Raises:
        ConfigurationError: The stored vectors have another dimension than the query's.
    """
    match, wide = match_expression(question.words), fused_depth(limit)
    with transaction(connection, "DEFERRED"):
        table = find_table(connection, question.model_id, len(question.vector))
        by_words = rank_by_words(connection, tenant, match, wide, only)
        by_meaning = (
            nearest(connection, tenant, table, question.vector, wide, only) if table else []
        )
        best = fuse(by_meaning, [version for version, _ in by_words])
        missing = count_missing(connection, table, tenant)
        return Hits(hits=show(connection, match, best, limit), search=hybrid_name(missing))
