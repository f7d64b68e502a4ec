"""The report: its citations and references, and the long writer that adds nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sifaka.errors import ModelProviderError
from sifaka.evidence.documents import SourceDocument
from sifaka.models.prompt import contents
from sifaka.record.entries import Started
from sifaka.record.research_question import Inquiry
from sifaka.record.run import Run
from sifaka.record.thought import Thought
from sifaka.record.usage import Budget, Usage
from sifaka.research.draft import tidied
from sifaka.research.report import Report, body_of, cited, literal, renumbered
from sifaka.research.state import Finding, ReportSection, source_of
from sifaka.validators.report import ReportValidator
from tests.sifaka.critics.scripted_judge import Answer, Asked
from tests.sifaka.research.bench import Bench, Scholar, shelf, told

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("One [2] two [1][2].", (2, 1)),
        ("Both [1, 3] and [2; 4].", (1, 3, 2, 4)),
        ("A footnote[^5].", (5,)),
        ("A link [6](https://elsewhere.example).", (6,)),
        ("No [text], no [12345], no [a1].", ()),
        ("Code `a[1]` stays, [2] counts.", (2,)),
        ("```\na[1]\n```\nAfter [2].", (2,)),
        ("A stray ` here [1].\nAnd ` there [2].", (1, 2)),
    ],
)
def test_the_numbers_are_those_that_the_text_cites(text: str, numbers: tuple[int, ...]) -> None:
    assert cited(text) == numbers


CODE = "Use `a[1]`.\n\n~~~\nb[2]\n~~~"
RENUMBERED: dict[str, tuple[str, dict[int, int], str, tuple[int, ...]]] = {
    "unknown ones are removed and told": (
        "One [2], two [1, 9] and [7].",
        {1: 4, 2: 1},
        "One [1], two [4] and.",
        (9, 7),
    ),
    "two that become one are cited once": ("Same [1, 2].", {1: 3, 2: 3}, "Same [3].", ()),
    "no link of the model's stays": ("See [1](https://evil.example).", {1: 1}, "See [1].", ()),
    "nor what could be one": (
        "See [1](javascript:alert(1)).",
        {1: 1},
        "See [1] (javascript:alert(1)).",
        (),
    ),
    "nor a definition of one": (
        "[1]: https://evil.example",
        {1: 1},
        "[1] : https://evil.example",
        (),
    ),
    "nor what looks like one": ("See [1]: it is so.", {1: 1}, "See [1] : it is so.", ()),
    "code is left as it is": (CODE, {}, CODE, ()),
}


@pytest.mark.parametrize("rule", RENUMBERED)
def test_known_citations_are_renumbered(rule: str) -> None:
    text, known, new, unknown = RENUMBERED[rule]
    assert renumbered(text, known) == (new, unknown)


@given(st.text(alphabet="[]0123456789,;^ `~a\n", max_size=60))
def test_after_renumbering_only_known_numbers_are_cited(text: str) -> None:
    known = {1: 10, 2: 20}
    new, unknown = renumbered(text, known)
    assert set(cited(new)) <= set(known.values())
    assert set(unknown).isdisjoint(known)


@given(st.text(alphabet="[]0123456789,;^ `a", max_size=60))
def test_a_quoted_text_cites_nothing(text: str) -> None:
    assert cited(literal(text)) == ()
    assert cited(f"{literal(text)} [7]")[-1:] == (7,)


@pytest.mark.parametrize("text", [" " * 200_000, "[1] `c` " * 25_000], ids=["spaces", "code"])
def test_citations_are_found_in_proportion_to_the_length_of_a_text(text: str) -> None:
    assert cited(text) == ((1,) if "[1]" in text else ())


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


def thought_of(*sections: ReportSection) -> Thought:
    report = Report(mode="deep", title="Lamps [9]", sections=sections)
    return report.as_thought(Run.start(Started()), author="research", usage=Usage())


def entry_of(**fields: Any) -> str:
    """The line under the references of a document that is cited."""
    return thought_of(section(0, "So it is [1].", finding(1, **fields))).text.splitlines()[-1]


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
    result = ReportValidator().check(thought_of(part))
    assert result.passed, result.message


def test_references_follow_the_first_mention_and_only_what_is_cited_is_listed() -> None:
    same = {"url": "https://example.org/same"}
    one = section(0, "B [2] A [1].", finding(1), finding(2, **same))
    two = section(1, "Same [1]. New [3].", finding(1, **same), finding(3, title="New"))
    body, documents = body_of([one, two])
    assert body == "## Part 0\n\nB [1] A [2].\n\n## Part 1\n\nSame [1]. New [3]."
    assert [each.title for each in documents] == ["Page 2", "Page 1", "New"]

    _, documents = body_of([section(0, "Only [2].", finding(1), finding(2))])
    assert [each.title for each in documents] == ["Page 2"]


def test_a_document_of_several_sections_goes_along_with_the_quotes_of_all() -> None:
    url = "https://example.org/same"
    one = section(0, "[1]", finding(1, "first words", url=url, text="first words here"))
    two = section(1, "[1]", finding(1, "other words", url=url, text="other words there"))
    (document,) = body_of([one, two])[1]
    assert "first words" in document.text
    assert "other words" in document.text
    assert len(document.text) <= 3_000


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
    entry = entry_of(**fields)
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
    assert entry_of(**fields).startswith(f"- [1] {told}")


@pytest.mark.hostile
def test_a_draft_is_put_right_in_proportion_to_its_length() -> None:
    assert tidied("# a\n```\n" * 20_000, "title")


DEEP = Inquiry(mode="deep")


def drafted(asked: Asked) -> str:
    return contents(asked.question)[0]["draft"][0]


async def report(budget: Budget | None = None, **answers: Callable[[Asked], Answer]) -> Thought:
    scholar = Scholar(**answers)
    return await Bench(inquiry=DEEP, budget=budget or Budget()).research(scholar.judge, shelf())


async def test_each_section_is_written_to_follow_from_those_before_it() -> None:
    scholar = Scholar(long_writer=lambda asked: {"section": f"As was said, {drafted(asked)}"})
    bench = Bench(inquiry=DEEP)
    thought = await bench.research(scholar.judge, shelf())
    keys = [call.key for call in (await bench.stored()).calls]
    assert len(keys) == len(set(keys)), "the calls of each section have a place of their own"
    asked = scholar.of("long_writer")
    assert [contents(each.question)[0]["section"] for each in asked] == [["Gas"], ["Wires"]]
    before = contents(asked[1].question)[0]["sections before"][0]
    assert "## Oil" in before
    assert "As was said, Statement" in before, "the section as it was written again"
    assert "[1]" not in before, "numbers of another section would be cited"
    assert thought.text.count("As was said") == 2
    assert told(thought, "degraded") == ()


SAYINGS: list[tuple[Callable[[str], str], str]] = [
    (lambda draft: f"{draft} It cost 47 million crowns.", "47 million"),
    (lambda draft: f"{draft} Baron Karl Okonkwo paid for it.", "Okonkwo"),
    (lambda draft: "Nothing.", "leaves out too much"),
    (lambda draft: draft.replace("[1]", ""), "cites something else"),
    (lambda draft: draft.replace("[1]", "[9]"), "cites something else"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "reason"),
    SAYINGS,
    ids=["a number", "a name", "too short", "no citation", "another citation"],
)
async def test_a_section_that_says_something_else_stays_as_it_was_drafted(
    said: Callable[[str], str], reason: str
) -> None:
    usual = await report()
    changed = await report(
        long_writer=lambda asked: {"section": said(drafted(asked).replace("[2]", "[1]"))}
    )
    assert changed.text == usual.text
    lines = [line for line in told(changed, "degraded") if "stays as it was drafted" in line]
    assert len(lines) == 2
    assert all(reason in line for line in lines)


async def test_a_long_writer_that_fails_costs_the_report_nothing() -> None:
    usual = await report()
    failed = await report(
        long_writer=lambda _: ModelProviderError("gone", error_code="bad_request")
    )
    assert failed.text == usual.text
    assert any("the long_writer has failed" in line for line in told(failed, "degraded"))
    assert not told(failed)["partial"]


async def test_it_does_not_take_the_call_that_is_kept_for_the_summary() -> None:
    scholar = Scholar()
    # What the sections and their plan take, and the one that is kept.
    bench = Bench(inquiry=DEEP)
    await bench.research(scholar.judge, shelf())
    before = len(scholar.asked) - len(scholar.of("long_writer"))
    thought = await report(Budget(max_calls=before))
    assert "In short, lamps changed" in thought.text
    assert any("no room for the long_writer" in line for line in told(thought, "degraded"))
