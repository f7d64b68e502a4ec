"""Records of search servers as documents."""

from datetime import UTC, datetime

import pytest

from sifaka.evidence.documents import SourceDocument
from sifaka.evidence.sources.records import Fields, document_of, records_at, when


def read(fields: Fields | None = None, **record: object) -> SourceDocument | None:
    return document_of(record, fields or Fields(), adapter="tested")


def test_several_fields_make_one_text_and_a_dot_leads_into_an_object() -> None:
    fields = Fields(text=("abstract", "page.body"), title="page.heading")
    found = read(fields, abstract="In short.", page={"body": ["One.", "Two."], "heading": "Isles"})
    assert found is not None
    assert found.text == "In short.\n\nOne.\n\nTwo."
    assert found.title == "Isles"


def test_a_name_with_a_dot_may_be_a_plain_name_too() -> None:
    found = read(Fields(text=("page.body",)), **{"page.body": "One."})
    assert found is not None
    assert found.text == "One."


@pytest.mark.parametrize("text", [None, "", "  ", [], {}, {"a": "b"}, True])
def test_a_record_without_text_is_no_document(text: object) -> None:
    assert read(text=text) is None


def test_only_places_on_the_web_are_links() -> None:
    for url in ("javascript:alert(1)", "file:///etc/passwd", "//host/x", "http://[bad", ""):
        found = read(text="x", url=url)
        assert found is not None
        assert found.url == ""
    found = read(text="x", url="javascript:alert(1)", doi="10.1000/1")
    assert found is not None
    assert found.url == "https://doi.org/10.1000/1"


def test_a_score_is_a_number_or_unknown() -> None:
    for score in (None, "9", True, float("nan"), float("inf")):
        found = document_of({"text": "x"}, Fields(), adapter="a", score=score)
        assert found is not None
        assert found.score is None


@pytest.mark.parametrize(
    ("told", "moment"),
    [
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-01T10:00:00Z", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        (["2024-05-01"], datetime(2024, 5, 1, tzinfo=UTC)),
        (2024, datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        (1714521600, datetime(2024, 5, 1, tzinfo=UTC)),
        (1714521600000, datetime(2024, 5, 1, tzinfo=UTC)),
        (1e300, None),
        (float("nan"), None),
        (True, None),
        ("soon", None),
        ([], None),
        ({}, None),
        (None, None),
    ],
)
def test_a_moment_is_read_as_servers_write_it(told: object, moment: datetime | None) -> None:
    assert when(told) == moment


def test_what_has_no_list_at_a_path_has_no_records() -> None:
    assert records_at({"a": {"b": [{"c": 1}, 2, None]}}, "a", "b") == [{"c": 1}]
    others: list[object] = [None, [], "x", {}, {"a": []}, {"a": {"b": {}}}]
    assert [records_at(answer, "a", "b") for answer in others] == [None] * len(others)
