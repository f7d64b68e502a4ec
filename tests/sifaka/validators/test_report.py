"""The validator `report`: outline, markers and references of a researched report."""

from collections.abc import Sequence

import pytest

from sifaka.record.results import ValidationResult
from sifaka.record.thought import Document, Thought
from sifaka.validators import ReportValidator
from sifaka.validators.report import bare_address

DOCUMENTS = (
    Document(text="...", title="Lamps of the coast", url="https://wiki.test/w/Lamps_(coast)"),
    Document(text="...", title="Harbour dues", url="https://wiki.test/w/Dues"),
    Document(text="...", id="notes-3"),
)
OUTLINE = ("Beginnings", "The lamps today")
REPORT = """# Lighthouses of the coast

## 1. Beginnings

The first lamp burned in 1811 [1], and dues paid for it [1, 2].

## The lamps today

Three of them still burn.[2] An array `a[9]` is code, and [7](https://x.test) a link.

```
[8] is code
## no heading
```

## References

[1] Lamps of the coast. https://wiki.test/w/Lamps_(coast). Retrieved 2026-11-01.
[2] Harbour dues
"""


def check(
    text: str, outline: Sequence[str] = OUTLINE, documents: tuple[Document, ...] = DOCUMENTS
) -> ValidationResult:
    thought = Thought(
        text=text,
        pre_generation_context=documents,
        metadata={"research": {"outline": tuple(outline), "written": True}},
    )
    return ReportValidator().check(thought)


def rules(result: ValidationResult, text: str) -> list[str | None]:
    for issue in result.issues:
        assert text[issue.start : issue.end] == issue.quote, "each issue points at its place"
        assert issue.quote
    return [issue.rule for issue in result.issues]


def test_a_complete_report_passes() -> None:
    result = check(REPORT)
    assert result.passed, result.message
    assert result.message == "all 2 sections are written, and 2 references resolve"
    assert (result.score, result.issues, result.suggestions) == (1.0, (), ())


def test_each_section_that_is_still_to_be_written_is_named() -> None:
    text = REPORT.replace("Three of them still burn.[2]", "_To be written._\n\n> Quote [2]\n")
    result = check(text)
    assert rules(result, text) == ["unwritten"]
    assert result.message == "the section 'The lamps today' is still to be written"
    assert "from the quotes below" in result.suggestions[0]


@pytest.mark.parametrize("level", ["## ", "### ", "# ", "## 4.2 ", "## **"])
def test_a_heading_counts_whatever_its_level_and_number(level: str) -> None:
    end = "**" if level.endswith("**") else ""
    assert check(REPORT.replace("## The lamps today", f"{level}the  lamps today{end}")).passed


def test_a_heading_that_is_missing_is_placed_after_the_one_before_it() -> None:
    text = REPORT.replace("## The lamps today", "The lamps today")
    result = check(text)
    assert rules(result, text) == ["missing_heading"]
    assert result.issues[0].quote == "## 1. Beginnings"
    assert "'The lamps today'" in result.message


def test_every_marker_needs_an_entry_of_its_own() -> None:
    text = REPORT.replace("[1, 2]", "[1, 4] and again [4] and [5]")
    result = check(text)
    assert rules(result, text) == ["unresolved_marker"] * 2
    assert [issue.quote for issue in result.issues] == ["[1, 4]", "[5]"]
    assert "[4] has no entry under References; [5] has no entry" in result.message
    text = REPORT.partition("## References")[0]
    assert rules(check(text), text) == ["unresolved_marker"] * 2
    text = REPORT + "[2] Lamps of the coast\n"
    assert rules(check(text), text) == ["repeated_entry"]


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ("[2] Harbour dues", True),
        ("- [2]: HARBOUR  dues, retrieved yesterday", True),
        ("2. https://wiki.test/w/Dues/", True),
        ("[2] My own words about it <https://wiki.test/w/Dues>.", True),
        ("[2] notes-3", True),
        ("[2] Harbour dues https://elsewhere.test/w/Dues", False),
        ("[2] https://wiki.test/w/Dues_of_others", False),
        ("[2] A book that nobody has found", False),
        ("[2] https://wiki.test/w/Dues and https://made-up.test", False),
    ],
)
def test_an_entry_names_the_address_or_else_the_title_of_a_document(
    entry: str, named: bool
) -> None:
    text = REPORT.replace("[2] Harbour dues", entry)
    result = check(text)
    assert result.passed == named, result.message
    assert rules(result, text) == ([] if named else ["unknown_reference"])


def test_a_report_that_cites_nothing_fails_where_there_are_documents() -> None:
    text = "# Lamps\n\n## Beginnings\n\nIn 1811.\n\n## The lamps today\n\nThree.\n"
    assert rules(check(text), text) == ["no_citation"]
    assert check(text, documents=()).passed


def test_what_nobody_researched_or_wrote_is_checked_for_what_it_has() -> None:
    thought = Thought(text="It is so [1].\n\n## References\n\n[1] A book.\n")
    assert ReportValidator().check(thought).passed
    fails = ReportValidator().check(Thought(text="It is so [3]."))
    assert [issue.rule for issue in fails.issues] == ["unresolved_marker"]
    result = check("")
    assert not result.passed
    assert [issue.start for issue in result.issues] == [None] * 3


def test_the_more_is_in_order_the_better_the_score() -> None:
    dossier = "# Q\n\n" + "".join(f"## {t}\n\n_To be written._\n\n" for t in OUTLINE)
    half = dossier.replace("_To be written._", "Written [1].", 1) + "## References\n\n[1] notes-3\n"
    scores = [check(text).score for text in ("", dossier, half, REPORT)]
    assert scores == sorted(set(scores)), scores


@pytest.mark.slow
def test_an_address_is_read_in_proportion_to_its_length() -> None:
    assert bare_address("https://example.org/(x)" + ")." * 400_000) == "https://example.org/(x)"


@pytest.mark.hostile
def test_a_report_of_nothing_but_headings_is_read_in_proportion_to_its_length() -> None:
    text = "# A\n\n_To be written._\n\n" * 20_000
    result = ReportValidator().check(Thought(text=text))
    assert {issue.message for issue in result.issues} == {"the section 'A' is still to be written"}
