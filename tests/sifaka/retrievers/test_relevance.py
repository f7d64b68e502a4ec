"""Recall over 200 texts, asked in other words; what a model adds is for `benchmarks.relevance`."""

from pathlib import Path

import pytest

from benchmarks.relevance.corpus import corpus
from benchmarks.relevance.languages import in_memory, languages, measure, measure_in
from benchmarks.relevance.measure import measure_bm25
from tests.stubs.elasticsearch_server import shared_server

pytestmark = pytest.mark.anyio
FLOOR = 0.20
"""Measured: 0.233. Words alone cannot do much better when none of them is repeated."""


def test_the_set_is_what_it_is_said_to_be() -> None:
    known = corpus()
    assert (len(known.texts), len(known.queries)) == (200, 60)
    assert len({id_.partition("/")[0] for id_ in known.texts}) == 20
    assert len(set(known.texts.values())) == 200
    assert all(35 <= len(text.split()) <= 80 for text in known.texts.values())
    assert all(query.relevant and query.relevant <= set(known.texts) for query in known.queries)


@pytest.mark.slow
async def test_recall_by_words_alone_stays_where_it_was_measured(tmp_path: Path) -> None:
    found = await measure_bm25(corpus(), tmp_path)
    assert found.recall >= FLOOR
    assert found.reciprocal_rank >= 0.12


@pytest.mark.slow
async def test_a_text_is_found_by_its_own_words(tmp_path: Path) -> None:
    known = corpus()
    own = tuple(
        type(known.queries[0])(text=" ".join(text.split()[:12]), relevant=frozenset({id_}))
        for id_, text in known.texts.items()
    )
    found = await measure_bm25(type(known)(texts=known.texts, queries=own), tmp_path)
    assert found.recall == 1.0
    assert found.reciprocal_rank >= 0.99


def test_the_set_of_languages_is_what_it_is_said_to_be() -> None:
    known = languages()
    assert [each.code for each in known] == ["zh", "ja", "ko", "th", "de", "fr", "es", "ar", "hi"]
    assert all((len(each.texts), len(each.queries)) == (12, 10) for each in known)
    assert all(answer in each.texts for each in known for _, answer in each.queries)


@pytest.mark.slow
async def test_texts_of_nine_languages_are_found_as_it_was_measured(tmp_path: Path) -> None:
    server = f"elasticsearch+http://{shared_server().host}?prefix=nine"
    for found in (
        await measure(in_memory()),
        await measure_in(f"sqlite:///{tmp_path}/runs.db", tmp_path),
        await measure_in(server, tmp_path / "e"),
    ):
        assert all(first >= 0.9 for first, _ in found.values()), found
        assert sum(among for _, among in found.values()) / len(found) >= 0.98
