"""The same document, found twice."""

import pytest

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.search import groups, merged, normal_doi, normal_title, normal_url


def document(title: str = "", **fields: str) -> SourceDocument:
    text = f"Words about {title} in {fields}."
    return SourceDocument.model_validate({"text": text, "title": title, **fields})


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/wiki/Tower",
        "http://example.org/wiki/Tower",
        "https://www.example.org/wiki/Tower",
        "https://EXAMPLE.org/wiki/Tower/",
        "https://example.org/wiki/Tower#History",
        "https://example.org:443/wiki/Tower?utm_source=feed&utm_medium=x",
        "https://example.org/wiki/Tower?fbclid=abc&gclid=def",
        " https://example.org/wiki/%54ower ",
    ],
)
def test_urls_of_one_page_are_the_same(url: str) -> None:
    assert normal_url(url) == "example.org/wiki/Tower"


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/wiki/tower",
        "https://example.org/wiki/Tower?oldid=3",
        "https://en.example.org/wiki/Tower",
        "https://example.org:8443/wiki/Tower",
        "https://example.org/wiki",
    ],
)
def test_urls_of_other_pages_are_not(url: str) -> None:
    assert normal_url(url) not in {"", "example.org/wiki/Tower"}


def test_parameters_in_another_order_are_the_same_page() -> None:
    assert normal_url("http://a.org/?b=2&a=1") == normal_url("https://a.org?a=1&b=2")


@pytest.mark.parametrize(
    "url", ["", "no url", "/path", "https://", "http://[broken", "http://a:x/"]
)
def test_what_is_no_url_identifies_nothing(url: str) -> None:
    assert normal_url(url) == ""


@pytest.mark.parametrize(
    "doi",
    [
        "10.1000/ABC.123",
        "doi:10.1000/abc.123",
        "DOI: 10.1000/abc.123",
        "https://doi.org/10.1000/abc.123",
        "http://dx.doi.org/10.1000/Abc.123?x=1",
        "doi.org/10.1000%2Fabc.123",
    ],
)
def test_dois_of_one_document_are_the_same(doi: str) -> None:
    assert normal_doi(doi) == "10.1000/abc.123"


@pytest.mark.parametrize("doi", ["", "11.1000/abc", "10.1/abc", "https://example.org/10.1000/abc"])
def test_what_is_no_doi_identifies_nothing(doi: str) -> None:
    assert normal_doi(doi) == ""


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


def test_one_title_with_two_dois_is_two_documents() -> None:
    found = [document("Annual survey", doi="10.1000/1"), document("Annual survey", doi="10.1000/2")]
    assert groups(found) == ((0,), (1,))


def test_documents_without_any_name_are_the_same_only_when_their_words_are() -> None:
    found = [
        SourceDocument(text="One."),
        SourceDocument(text="Two."),
        SourceDocument(text="One."),
    ]
    assert groups(found) == ((0, 2), (1,))
