"""Applying given issues, editing in rounds, and the text that the demo improves."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from sifaka.editor import AppliedEdit, apply, edit, lint
from sifaka.editor.edit import settle
from sifaka.record.results import Issue
from sifaka.text.formats import Format
from sifaka_mcp.cli.improve import TEXT as FILE


def fix(text: str, quote: str, replacement: str, *, safe: bool = True, **fields: str) -> Issue:
    start = text.index(quote)
    return Issue.at(
        text, start, start + len(quote), "because", fix=replacement, safe=safe, **fields
    )


def test_safe_fixes_are_applied_and_logged_in_text_order() -> None:
    text = "one two three"
    done = apply(text, [fix(text, "three", "tree", rule="b"), fix(text, "one", "won", rule="a")])
    assert done.text == "won two tree"
    assert done.edits == (
        AppliedEdit(rule="a", message="because", start=0, before="one", after="won"),
        AppliedEdit(rule="b", message="because", start=8, before="three", after="tree"),
    )


def test_suggestions_and_issues_about_other_versions_are_not_applied() -> None:
    text = "one two three"
    assert apply(text, [fix(text, "one", "won", safe=False)]).edits == ()
    assert apply(text, [Issue(message="somewhere", fix="x", safe=True)]).text == text
    stale = fix("one two three", "two", "2")
    assert apply("xone two three", [stale]).text == "xone two three"


def test_of_two_overlapping_fixes_only_one_is_applied() -> None:
    text = "one two three"
    done = apply(text, [fix(text, "one two", "A"), fix(text, "two three", "B")])
    assert done.text == "one B"
    assert len(done.edits) == 1


@pytest.mark.parametrize(
    ("quote", "replacement"),
    [
        ("12 days", "13 days"),
        ("not ready", "ready"),
        ("plan", "plan without end"),
    ],
)
def test_a_fix_that_changes_a_number_or_a_negation_is_refused(quote: str, replacement: str) -> None:
    text = "The plan was not ready for 12 days."
    assert apply(text, [fix(text, quote, replacement)]).text == text


def test_a_fix_inside_code_or_a_url_is_refused() -> None:
    text = "See https://example.com/cheap and `cheap` for the cheap one."
    issues = [
        Issue.at(text, i, i + 5, "no", fix="affordable", safe=True)
        for i in range(len(text))
        if text.startswith("cheap", i)
    ]
    assert len(issues) == 3
    expected = "See https://example.com/cheap and `cheap` for the affordable one."
    assert apply(text, issues).text == expected
    assert edit(text, issues).text == expected


def test_a_banned_term_is_replaced_in_quotes_and_tables_too() -> None:
    text = 'We are "world-class" at it.\n\n| a | b |\n|---|---|\n| world-class | 1 |\n'
    issues = [
        Issue.at(text, i, i + 11, "banned", fix="reliable", safe=True, rule="world-class")
        for i in range(len(text))
        if text.startswith("world-class", i)
    ]
    assert edit(text, issues).text == text.replace("world-class", "reliable")


def test_a_replacement_that_somebody_asked_for_may_name_another_number() -> None:
    text = "Upgrade to version 1 of the tool."
    assert edit(text, [fix(text, "version 1", "version 2")]).text == text.replace("1", "2")


def test_given_fixes_come_first_and_the_rules_after_them() -> None:
    text = "It is a world-class apple that we recieve."
    done = edit(text, [fix(text, "world-class ", "", rule="world-class")])
    assert done.text == "It is an apple that we receive."
    assert [e.rule for e in done.edits] == ["article", "world-class", "misspelling"]


def test_a_repaired_json_text_is_not_touched_by_the_rules_for_prose() -> None:
    broken = '{"note": "a apple , teh  end",}'
    repaired = '{"note": "a apple , teh  end"}'
    whole = Issue.at(broken, 0, len(broken), "repair", fix=repaired, safe=True, rule="json")
    done = edit(broken, [whole])
    assert done.text == repaired
    assert [e.rule for e in done.edits] == ["json"]
    assert json.loads(edit(repaired).text) == json.loads(repaired)
    assert edit(repaired).edits == lint(repaired).issues == ()


def test_a_new_layout_of_the_whole_text_goes_alone() -> None:
    text = "* one  apple\n* 12 teh\n"
    layout = Issue.at(text, 0, len(text), "format", fix="- one  apple\n- 1 teh\n", safe=True)
    done = edit(text, [fix(text, "apple", "pear"), layout])
    assert done.text == "- one  apple\n- 1 teh\n"
    assert len(done.edits) == 1


def test_the_log_of_several_rounds_points_into_the_text_before_the_call() -> None:
    text = "We dont go there to recieve an recieved parcel alot , as it is late."
    done = edit(text)
    assert done.text == "We don't go there to receive a received parcel a lot, as it is late."
    starts = {e.before: e.start for e in done.edits}
    for before in ("dont", "alot"):
        assert starts[before] == text.index(before)
    article = next(e for e in done.edits if e.rule == "article")
    assert text[article.start :].startswith("an")


def test_many_threads_may_lint_at_once() -> None:
    texts = [f"It is teh number {n} that works as follow: recieve it." for n in range(24)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lint, texts))
    assert all({"misspelling", "harper.AsFollows"} <= {i.rule for i in f.issues} for f in found)
    assert all(f.degraded == () for f in found)


def test_of_two_edits_that_undo_each_other_one_is_made_and_the_others_stay() -> None:
    def find(text: str) -> Iterator[Issue]:
        for before, after in (("grey", "gray"), ("gray", "grey"), ("teh", "the")):
            if before in text:
                yield fix(text, before, after, rule=before)

    rounds = settle("A grey cat and teh dog.", find, "safe", Format.TEXT)
    assert rounds[-1].text == "A gray cat and the dog."
    assert [edit.rule for each in rounds for edit in each.edits] == ["grey", "teh"]


def test_edits_without_an_end_are_not_made() -> None:
    def find(text: str) -> Iterator[Issue]:
        yield fix(text, "cat", "cat cat")

    assert settle("A cat.", find, "safe", Format.TEXT) == ()


TEXT = FILE.read_text(encoding="utf-8")


def test_the_editor_removes_every_mistake_that_was_put_in() -> None:
    done = edit(TEXT)
    assert {e.rule for e in done.edits} == {
        "misspelling", "repeated_word", "article", "encoding", "contraction",
        "space_before_punctuation", "then_than",
    }  # fmt: skip
    for mistake in ("untill", "recieved", "the the", "a easy", "â€™", "wouldnt", " ,", " !"):
        assert mistake in TEXT
        assert mistake not in done.text
