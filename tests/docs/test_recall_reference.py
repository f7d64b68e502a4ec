"""`docs/recall.md` against the searches, the embedding models and the retrievers."""

import re
from datetime import UTC, datetime

import anyio
import pytest
from pydantic import ValidationError

import sifaka.retrievers
from benchmarks.relevance import past_runs
from sifaka.chain.lessons import MOST_REMEMBERED
from sifaka.embeddings import open_embedder
from sifaka.embeddings.protocol import BATCH, MOST_CHARS, PACKAGED
from sifaka.errors import ConfigurationError
from sifaka.record.entries import Started
from sifaka.retrievers.protocol import DOCUMENTS
from sifaka.storage import MemoryStorage
from sifaka.storage.embedding import hybrid_name
from sifaka.storage.protocol import ANY, Filters
from sifaka.storage.query import parse_query
from sifaka.tasks import look_up
from tests.docs.extras import EXTRAS
from tests.docs.markdown import code, read, section, table
from tests.stubs.static_models import needs_the_packaged_model

DOCUMENT = "docs/recall.md"
SEARCHING = section(DOCUMENT, "Searching")
KINDS = section(DOCUMENT, "Kinds of search")
MODELS = section(DOCUMENT, "Embedding models")
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def test_every_filter_is_told_and_works() -> None:
    told = [code(row[0])[0] for row in table(SEARCHING)]
    assert {name.partition(":")[0] for name in told} == {
        {"tags": "tag"}.get(field, field) for field in Filters.model_fields
    }
    for shown in told:
        for name in [shown] if "WHEN" not in shown else _moments(shown):
            words, only = parse_query(f"refund {name}", now=NOW)
            assert (words, only == ANY) == ("refund", False), name


def _moments(shown: str) -> list[str]:
    (sentence,) = re.findall(r"^WHEN is .*?`\. ", SEARCHING, re.DOTALL | re.MULTILINE)
    return [shown.replace("WHEN", moment) for moment in code(sentence)]


def test_the_characters_of_tags_are_told() -> None:
    (told,) = re.findall(r"characters of `(.*?)`", SEARCHING)
    assert Started(tags=(f"a1{told.replace(' ', '')}",)).tags
    for wrong in ("two words", "a" * 65, ""):
        with pytest.raises(ValidationError):
            Started(tags=(wrong,))


def test_the_kinds_of_search_are_called_as_told() -> None:
    kinds = {code(row[0])[0] for row in table(KINDS)}
    additions = [
        name for row in table(KINDS[KINDS.index("| Addition ") :]) for name in code(row[0])
    ]
    assert kinds == {"bm25", hybrid_name(0), "dense"}
    assert f"hybrid {additions[3]}" == hybrid_name(2)


@pytest.mark.anyio
@pytest.mark.parametrize("embeds", [True, False])
async def test_why_meaning_was_left_out_is_told(embeds: bool) -> None:
    found = await look_up(
        MemoryStorage(),
        embeds=embeds,
        query="refund",
        limit=1,
    )
    assert found.search is not None
    kind, _, addition = found.search.partition(", ")
    assert (kind, addition in KINDS) == ("bm25", True)


def test_every_embedding_model_is_told() -> None:
    told = {code(row[0])[0]: code(row[2]) for row in table(MODELS)}
    with pytest.raises(ConfigurationError) as raised:
        open_embedder("nothing")
    suggestion = raised.value.suggestion or ""
    kinds = set(re.findall(r"([\w-]+):(?:/|n)", suggestion))
    assert PACKAGED in suggestion
    assert {name.partition(":")[0] for name in told} == {PACKAGED} | kinds
    assert {name for needs in told.values() for name in needs} <= EXTRAS
    for name, needs in told.items():
        kind = name.partition(":")[0]
        assert needs == [kind] or kind in {"provider", PACKAGED}


@needs_the_packaged_model
@pytest.mark.slow
def test_what_the_packaged_model_finds_is_as_measured() -> None:
    lines = past_runs.table(anyio.run(past_runs.measure, PACKAGED))
    measured = [row[1:-1] for row in table("\n".join(lines))]
    by_words, reworded = measured[:3], measured[3:]
    told = table(MODELS[MODELS.index("| Search |") :])
    languages = [run["language"] for run in past_runs.past_runs()]
    assert [len(row) for row in told] == [1 + len(set(languages))] * 3
    assert [[f"`{search}`", *cells] for search, *cells in reworded] == told
    missed = [cell for _, *cells in by_words for cell in cells if not cell.endswith(" 1.00")]
    assert missed == [".92 .92"], "a query by words, in one search"


def test_the_numbers_are_those_of_the_code() -> None:
    text = " ".join(read(DOCUMENT).split())
    assert f"first {MOST_CHARS:,} characters" in text
    assert f"{BATCH} versions at a time" in text
    assert f"asked for {DOCUMENTS} documents" in text
    assert f"`remember=N`, up to {MOST_REMEMBERED}," in text
    assert f"0 to {MOST_REMEMBERED}:" in section("docs/tools.md", "improve_text")


def test_every_retriever_and_cache_is_told() -> None:
    text = section(DOCUMENT, "Retrievers")
    told = [code(row[0])[0].partition("(")[0] for row in table(text)]
    offered = {name for name in sifaka.retrievers.__all__ if name.endswith("Retriever")}
    assert set(told) == offered - {"Retriever"}
    assert all(name in text for name in sifaka.retrievers.__all__ if name.endswith("Cache"))
