"""Documents in one list: copies, weights of criteria, the table of classes and the order."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import reduce
from itertools import permutations
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.model import (
    Assessment,
    Classification,
    Criterion,
    Evidence,
    Judgement,
    Verification,
    classify,
    ranked,
    weighted,
)
from sifaka.evidence.search import groups, merged, normal_doi, normal_title, normal_url
from tests.sifaka.evidence.scripted_adapter import page

DOCUMENT = SourceDocument(text="Words.")
WORDS: dict[str, Judgement] = {
    "yes": "support",
    "some": "somewhat_support",
    "no": "reject",
    "?": "insufficient_information",
}


def classified(judged: str, types: str = "topic topic", weights: str = "60 40") -> Evidence:
    kinds = types.split(",") if "," in types else types.split()
    criteria = weighted(
        [Criterion(id=f"c{n}", type=kind) for n, kind in enumerate(kinds)],
        [float(weight) for weight in weights.split()[: len(kinds)]],
    )
    assessments = tuple(
        Assessment(criterion=f"c{n}", judgement=WORDS[word])
        for n, word in enumerate(judged.split())
    )
    return classify(Verification(document=DOCUMENT, assessments=assessments), criteria)


@pytest.mark.parametrize(
    ("judged", "types", "expected"),
    [
        ("yes yes", "topic topic", "perfect"),
        ("yes", "topic", "perfect"),
        ("yes yes", "topic time", "perfect"),
        ("yes some", "topic topic", "partial"),
        ("some some", "topic topic", "partial"),
        ("some no", "topic topic", "partial"),
        ("no some", "topic topic", "partial"),
        ("some ?", "topic topic", "partial"),
        ("yes no", "topic time", "partial"),
        ("some yes", "topic time", "partial"),
        ("no no", "topic topic", "reject"),
        ("? ?", "topic topic", "reject"),
        ("no ?", "topic topic", "reject"),
        ("no yes", "topic time", "reject"),
        ("? yes", "topic time", "reject"),
        ("no some", "topic time", "reject"),
        ("yes", "time", "perfect"),
        ("yes yes", "time time", "perfect"),
        ("yes some", "time time", "reject"),
        ("", "topic topic", "reject"),
        ("yes", "topic topic", "partial"),
    ],
)
def test_the_class_follows_the_table(judged: str, types: str, expected: Classification) -> None:
    assert classified(judged, types).classification == expected


@pytest.mark.parametrize(
    ("judged", "score"),
    [
        ("yes yes", 1.0),
        ("yes no", 0.6),
        ("some yes", 0.7),
        ("some some", 0.5),
        ("no some", 0.2),
        ("? no", 0.0),
    ],
)
def test_the_score_is_the_weight_times_1_for_support_and_half_for_somewhat(
    judged: str, score: float
) -> None:
    assert classified(judged).score == pytest.approx(score)


def test_what_was_not_verified_is_unverified_and_not_rejected_and_no_score_is_above_1() -> None:
    criteria = [Criterion(id="a"), Criterion(id="b")]
    assessments = tuple(Assessment(criterion=each.id, judgement="support") for each in criteria)
    verification = Verification(document=DOCUMENT, assessments=assessments)
    assert classify(verification, criteria).score == 1.0
    verification = Verification(document=DOCUMENT, degraded="the model is down")
    evidence = classify(verification, [Criterion(id="a")])
    assert (evidence.classification, evidence.score) == ("unverified", 0.0)
    assert evidence.degraded == "the model is down"


def test_the_order_is_class_then_score_and_what_is_equal_keeps_its_place() -> None:
    def of(name: str, classification: Classification, score: float) -> Evidence:
        document = SourceDocument(text="", title=name)
        return Evidence(document=document, classification=classification, score=score)

    given = [
        of("rejected", "reject", 0.9),
        of("unverified", "unverified", 1.0),
        of("partial low", "partial", 0.2),
        of("partial first", "partial", 0.8),
        of("partial second", "partial", 0.8),
        of("perfect", "perfect", 1.0),
    ]
    order = [each.document.title for each in ranked(given)]
    assert order[:3] == ["perfect", "partial first", "partial second"]
    assert order[3:] == ["partial low", "unverified", "rejected"]


def weights_of(given: Sequence[float]) -> list[float]:
    criteria = [Criterion(id=f"c{n}") for n in range(len(given))]
    return [each.weight for each in weighted(criteria, given)]


anything = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(min_value=5e-324, max_value=1e-300),
    st.floats(min_value=1e300, allow_infinity=False),
    st.integers(-1_000, 1_000),
)


@given(st.lists(anything, min_size=1, max_size=4))
def test_weights_sum_to_exactly_1_in_any_order_whatever_was_given(given: list[float]) -> None:
    weights = weights_of(given)
    assert all(reduce(add, order) == 1.0 for order in permutations(weights))
    assert sum(weights) == math.fsum(weights) == 1.0
    assert all(0 <= weight <= 1 for weight in weights)


@given(st.lists(st.floats(min_value=0, max_value=1e308), min_size=5, max_size=40))
def test_weights_of_many_criteria_sum_to_exactly_1_too(given: list[float]) -> None:
    assert reduce(add, weights_of(given)) == 1.0


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        ([60, 40], [0.6, 0.4]),
        ([70.0, 30.0], [0.7, 0.3]),
        ([0.6, 0.4], [0.6, 0.4]),
        ([0.0, 0.0], [0.5, 0.5]),
        ([-1.0, -5.0], [0.5, 0.5]),
        ([0.0, -1.0], [0.5, 0.5]),
        ([1e308, 1e308], [0.5, 0.5]),
        ([5e-324, 5e-324], [0.5, 0.5]),
        ([1e308, 5e-324], [1.0, 0.0]),
    ],
)
def test_weights_are_exact_whatever_is_given(given: list[float], weights: list[float]) -> None:
    assert weights_of(given) == weights


def test_no_criteria_have_no_weights() -> None:
    assert weighted([], []) == ()


@pytest.mark.parametrize("kind", ["time", "Time ", " TIME", "tIme\n"])
def test_the_type_compares_without_case_and_space(kind: str) -> None:
    assert Criterion(id="c", type=kind).is_about_time
    assert not Criterion(id="c", type=f"{kind}s").is_about_time


A, B, C, D = (page(f"harbour {letter}") for letter in "abcd")


def titles(*lists: list[object], most: int = 10) -> list[str]:
    return [each.title[-1] for each in merged(lists, most)]  # pyright: ignore[reportArgumentType]


def test_what_several_lists_hold_comes_first_and_what_is_equal_keeps_their_order() -> None:
    assert titles([A, B], [C, B]) == ["b", "a", "c"]
    assert titles([C, A], [D, B]) == ["c", "d", "a", "b"]
    assert titles([A, B], [C, D], most=3) == ["a", "c", "b"]


def test_the_score_is_the_sum_of_reciprocal_ranks_of_each_list_the_better() -> None:
    first = merged([[A, B], [C, B]], 10)[0]
    assert first.score == pytest.approx(2 / 62)
    copy = A.model_copy(update={"url": f"{A.url}#part"})
    (only,) = merged([[A, copy]], 10)
    assert only.score == pytest.approx(1 / 61)


def test_of_copies_the_one_with_an_address_then_a_date_then_more_text_is_kept() -> None:
    bare = A.model_copy(update={"url": "", "text": A.text * 9})
    dated = A.model_copy(update={"published": datetime(2020, 1, 1, tzinfo=UTC)})
    longer = A.model_copy(update={"text": A.text * 2})
    assert merged([[bare], [A]], 10)[0].url == A.url
    assert merged([[longer], [dated]], 10)[0].published is not None
    assert merged([[A], [longer]], 10)[0].text == longer.text


def document(title: str = "", **fields: str) -> SourceDocument:
    text = f"Words about {title} in {fields}."
    return SourceDocument.model_validate({"text": text, "title": title, **fields})


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://example.org/wiki/Tower", "example.org/wiki/Tower"),
        ("http://example.org/wiki/Tower", "example.org/wiki/Tower"),
        ("https://www.example.org/wiki/Tower", "example.org/wiki/Tower"),
        ("https://EXAMPLE.org/wiki/Tower/", "example.org/wiki/Tower"),
        ("https://example.org/wiki/Tower#History", "example.org/wiki/Tower"),
        ("https://example.org:443/wiki/Tower?utm_source=a&utm_medium=x", "example.org/wiki/Tower"),
        ("https://example.org/wiki/Tower?fbclid=abc&gclid=def", "example.org/wiki/Tower"),
        (" https://example.org/wiki/%54ower ", "example.org/wiki/Tower"),
        ("https://example.org/wiki/tower", "example.org/wiki/tower"),
        ("https://example.org/wiki/Tower?oldid=3", "example.org/wiki/Tower?oldid=3"),
        ("https://en.example.org/wiki/Tower", "en.example.org/wiki/Tower"),
        ("https://example.org:8443/wiki/Tower", "example.org:8443/wiki/Tower"),
        ("https://a.org/?b=2&a=1", "a.org?a=1&b=2"),
        *(
            (url, "")
            for url in ("", "no url", "/path", "https://", "http://[broken", "http://a:x/")
        ),
    ],
)
def test_urls_of_one_page_are_the_same_and_what_is_none_identifies_nothing(
    url: str, normal: str
) -> None:
    assert normal_url(url) == normal


@pytest.mark.parametrize(
    ("doi", "normal"),
    [
        ("10.1000/ABC.123", "10.1000/abc.123"),
        ("doi:10.1000/abc.123", "10.1000/abc.123"),
        ("DOI: 10.1000/abc.123", "10.1000/abc.123"),
        ("https://doi.org/10.1000/abc.123", "10.1000/abc.123"),
        ("http://dx.doi.org/10.1000/Abc.123?x=1", "10.1000/abc.123"),
        ("doi.org/10.1000%2Fabc.123", "10.1000/abc.123"),
        *((doi, "") for doi in ("", "11.1000/abc", "10.1/abc", "https://example.org/10.1000/abc")),
    ],
)
def test_dois_of_one_document_are_the_same_and_what_is_none_identifies_nothing(
    doi: str, normal: str
) -> None:
    assert normal_doi(doi) == normal


@pytest.mark.parametrize(
    "title", ["", "Home", "Untitled document", " INTRODUCTION ", "1889", "!!!"]
)
def test_an_empty_or_generic_title_merges_nothing(title: str) -> None:
    assert normal_title(title) == ""
    pages = [document(title, url=f"https://example.org/{n}") for n in range(2)]
    assert groups(pages) == ((0,), (1,))


def test_url_and_doi_are_followed_from_copy_to_copy() -> None:
    found = [
        document("One", url="https://a.org/1"),
        document("Two", doi="10.1000/x"),
        document("Three", url="https://b.org/2"),
        document("Four", url="http://www.a.org/1/", doi="doi:10.1000/X"),
        document("Five", url="https://doi.org/10.1000/x"),
    ]
    assert groups(found) == ((0, 1, 3, 4), (2,))


def test_documents_of_one_title_and_other_words_are_all_kept() -> None:
    found = [
        document("The Harbour Tower", url="https://a.org/1"),
        document("the harbour tower!", id="7", adapter="other"),
        document("The harbour bridge", url="https://a.org/3"),
    ]
    assert groups(found) == ((0,), (1,), (2,))
    found = [document("Annual survey", doi="10.1000/1"), document("Annual survey", doi="10.1000/2")]
    assert groups(found) == ((0,), (1,))
    found = [SourceDocument(text=text) for text in ("One.", "Two.", "One.")]
    assert groups(found) == ((0, 2), (1,)), "without any name"


def test_of_one_title_the_one_that_is_cut_is_a_copy() -> None:
    words = "It is forty metres tall. It was built in 1889."
    found = [
        document("The Harbour Tower", text=words, url="https://a.org/1"),
        document("the harbour tower!", text="It is  forty metres TALL.", id="7"),
        document("The Harbour Tower", text="", id="8"),
        document("Another title", text="It is forty metres", id="9"),
    ]
    assert groups(found) == ((0, 1, 2), (3,))


def test_the_same_words_are_one_document_that_names_all_its_places() -> None:
    words = "It is forty metres tall. It was built in 1889."
    found = [
        document("Tower", text=words, id="notes/a.md", adapter="notes"),
        document("A tower", text=words.upper(), url="https://a.org/1"),
        document("Tower", text=words, doi="10.1000/1"),
        document("Tower", text=words, url="https://b.org/2", doi="10.1000/2"),
    ]
    assert groups(found) == ((0, 1, 2), (3,)), "those of two DOIs are not"
    first, second = merged([found], 10)
    assert first.url == "https://a.org/1"
    assert first.also == ("notes notes/a.md", "doi:10.1000/1")
    assert second.also == ()


def test_passages_that_one_adapter_has_of_a_page_are_all_kept() -> None:
    page = {"url": "https://a.org/1", "adapter": "papers"}
    found = [document("Tower", id=str(n), **page) for n in range(3)]
    again = found[1].model_copy()
    other = document("Tower", id="7", url="https://a.org/1", adapter="wiki")
    assert groups([*found, again]) == ((0,), (1, 3), (2,))
    assert groups([found[0], other]) == ((0, 1),)
