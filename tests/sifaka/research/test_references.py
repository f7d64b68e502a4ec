"""The references of a report: whatever the documents are called, they resolve."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sifaka.evidence.documents import SourceDocument
from sifaka.record.entries import Started
from sifaka.record.run import Run
from sifaka.record.usage import Usage
from sifaka.research.draft import tidied
from sifaka.research.report import Report, body_of, numbered
from sifaka.research.state import Finding, ReportSection, source_of
from sifaka.validators.report import ReportValidator


def finding(number: int, *quotes: str, **fields: Any) -> Finding:
    given = {"text": "Some words of it.", "title": f"Page {number}", **fields}
    document = SourceDocument.model_validate(given)
    return Finding(
        number=number,
        document=document,
        source=source_of(document),
        query="words",
        quotes=quotes,
        classification="perfect",
    )


def section(number: int, text: str, *findings: Finding) -> ReportSection:
    return ReportSection(
        number=number, title=f"Part {number}", status="done", text=text, findings=findings
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "https://example.org/a b"},
        {"url": 'https://example.org/<i>"x"`y`'},
        {"url": "https://example.org/x_(y)"},
        {"title": "Lamps [3] and <b>oil</b> `code`\nsecond line"},
        {"title": "", "url": "", "id": "page 7"},
        {"title": "", "url": "", "text": "Nothing but words."},
        {"title": "A title " * 100},
        {"title": "Lamps", "doi": "10.1000/182"},
    ],
)
def test_every_marker_resolves_whatever_a_document_is_called(fields: dict[str, str]) -> None:
    part = section(0, "So it is [1].", finding(1, **fields))
    report = Report(mode="deep", title="Lamps [9]", sections=(part,))
    thought = report.as_thought(Run.start(Started()), author="research", usage=Usage())
    result = ReportValidator().check(thought)
    assert result.passed, result.message


def test_numbers_follow_the_first_mention_and_do_not_depend_on_local_numbers() -> None:
    same = {"url": "https://example.org/same"}
    one = section(0, "B [2] A [1].", finding(1), finding(2, **same))
    two = section(1, "Same [1]. New [3].", finding(1, **same), finding(3, title="New"))
    texts, references = numbered([one, two])
    assert texts == ("B [1] A [2].", "Same [1]. New [3].")
    assert [each.document.title for each in references] == ["Page 2", "Page 1", "New"]


def test_only_what_is_cited_is_listed() -> None:
    _, references = numbered([section(0, "Only [2].", finding(1), finding(2))])
    assert [each.document.title for each in references] == ["Page 2"]


def test_a_document_of_several_sections_goes_along_with_the_quotes_of_all() -> None:
    url = "https://example.org/same"
    one = section(0, "[1]", finding(1, "first words", url=url, text="first words here"))
    two = section(1, "[1]", finding(1, "other words", url=url, text="other words there"))
    (reference,) = numbered([one, two])[1]
    assert "first words" in reference.document.text
    assert "other words" in reference.document.text
    assert len(reference.document.text) <= 3_000


def test_a_failed_section_stands_under_its_own_heading() -> None:
    failed = ReportSection(number=1, title="Part 1", status="failed", error="no [4]\nwiki")
    body, _ = body_of([section(0, "Fine [1].", finding(1)), failed])
    assert body.endswith("## Part 1\n\n_This section could not be researched: no \\[4\\] wiki_")


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("Oil [1].", "Oil [1]."),
        ("# Oil\n\nText.", "Text."),
        ("## Other\n\nText.", "### Other\n\nText."),
        ("Text.\n\n## References\n\n1. Made up", "Text."),
        ("Text.\n\n**Sources**", "Text.\n\n**Sources**"),
        ("A\n\n### Sources:\n\nx\n\n# More\n\ny", "A\n\n### More\n\ny"),
        ("```\n# no heading\n```", "```\n# no heading\n```"),
        ("~~~\ncode", "~~~\ncode\n~~~"),
        ("```\n~~~\n```\n\nText.", "```\n~~~\n```\n\nText."),
        ("```\n~~~\n# no\n```\n\n# More\n\ny", "```\n~~~\n# no\n```\n\n### More\n\ny"),
        ("\0A\r\nB ", "A\nB"),
    ],
)
def test_a_draft_is_put_right(draft: str, text: str) -> None:
    assert tidied(draft, "Oil") == text


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "javascript:alert(1)"},
        {"url": "data:text/html,x"},
        {"doi": "10.1/x <img src=x> [1](https://evil.example)"},
        {"author": "Lind](https://evil.example) <img src=x>"},
        {"title": "", "id": "<img src=x> [1](https://evil.example)"},
        {"title": "Lamps](https://evil.example) <img src=x> ![x](https://evil.example)"},
    ],
)
def test_a_reference_links_to_nothing_but_the_page_of_its_document(fields: dict[str, str]) -> None:
    (reference,) = numbered([section(0, "So it is [1].", finding(1, **fields))])[1]
    entry = reference.entry()
    assert entry.startswith("- [1] ")
    assert not set("<>[]`") & set(entry.removeprefix("- [1] "))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (
            {"title": "The lamps", "author": "Lind A.", "id": "lamps.pdf#page=3",
             "adapter": "notes", "published": datetime(2021, 3, 1, tzinfo=UTC)},
            "Lind A. The lamps. 2021-03-01. lamps.pdf#page=3 in notes. Retrieved",
        ),
        (
            {"title": "The lamps", "url": "https://example.org/a", "doi": "10.1/x", "author": "B"},
            "B. The lamps. <https://example.org/a>. doi:10.1/x. Retrieved",
        ),
    ],
)  # fmt: skip
def test_a_reference_names_author_title_date_and_place(fields: dict[str, Any], told: str) -> None:
    (reference,) = numbered([section(0, "So it is [1].", finding(1, **fields))])[1]
    assert reference.entry().startswith(f"- [1] {told}")


@pytest.mark.hostile
def test_a_draft_is_put_right_in_proportion_to_its_length() -> None:
    assert tidied("# a\n```\n" * 20_000, "title")
