"""Merging the issues of several opinions."""

from typing import Any

import pytest

from sifaka.record.clustering import cluster
from sifaka.record.results import Issue

TEXT = "The first sentence is long and hard to read. The second one is wrong. The third is fine."


def at(quote: str, message: str, **fields: Any) -> Issue:
    start = TEXT.index(quote)
    return Issue.at(TEXT, start, start + len(quote), message, **fields)


def test_the_same_place_and_category_is_one_issue_whatever_the_words() -> None:
    (issue,) = cluster(
        [
            [at("first sentence is long", "Shorten it.", category="clarity", severity=2)],
            [at("sentence is long and hard", "Nobody can follow.", category="Clarity", severity=4)],
        ]
    )
    assert issue.support == 2
    assert issue.severity == 4
    assert issue.message == "Nobody can follow.", "the gravest one's words"


WRONG = at("wrong", "It is wrong.")
REPEATED = at("wrong", "It is wrong.", category="facts")
POINT = Issue.at(TEXT, 8, 8, "A word is missing.", category="grammar")
GROUPS: dict[str, tuple[list[list[Issue]], list[int]]] = {
    "the same place and similar words are one, whatever the category": (
        [
            [at("is wrong", "This statement is wrong.", category="facts")],
            [at("is wrong", "The statement is wrong!", category="truth")],
        ],
        [2],
    ),
    "the same place is one, whatever the category and the words": (
        [
            [at("is wrong", "A verb is missing.", category="grammar")],
            [at("is wrong", "Paris lies elsewhere.", category="facts")],
        ],
        [2],
    ),
    "one opinion may say two things of one place": (
        [[at("is wrong", "A verb is missing."), at("is wrong", "Paris lies elsewhere.")]],
        [1, 1],
    ),
    "having no category is nothing in common": (
        [[at("wrong", "A verb is missing.")], [at("second one is wrong", "Paris lies elsewhere.")]],
        [1, 1],
    ),
    "the same words about different places are different": (
        [[at("first", "unclear")], [at("second", "unclear")]],
        [1, 1],
    ),
    "5 of 9 characters are the same place": (
        [
            [at("The first", "unclear", category="c")],
            [at("first sentence is", "bad", category="c")],
        ],
        [2],
    ),
    "2 of 9 characters are different places": (
        [[at("The first", "unclear", category="c")], [at("st sentence is", "bad", category="c")]],
        [1, 1],
    ),
    "one opinion supports an issue once": ([[REPEATED] * 3, [REPEATED]], [2]),
    "support that an issue brings counts": (
        [
            [at("wrong", "It is wrong.", support=3)],
            [at("wrong", "It is wrong.", support=2)],
        ],
        [5],
    ),
    "an issue without a place never joins one with a place": (
        [[WRONG], [Issue(message="It is wrong.")]],
        [1, 1],
    ),
    "a place without length is within what surrounds it": (
        [[POINT], [at("The first sentence", "There a word is missing.", category="grammar")]],
        [2],
    ),
    "nothing comes of nothing": ([[], []], []),
}


@pytest.mark.parametrize("rule", GROUPS)
def test_issues_are_one_or_several(rule: str) -> None:
    groups, supports = GROUPS[rule]
    assert [issue.support for issue in cluster(groups)] == supports


def test_without_a_place_category_and_words_must_agree() -> None:
    one = Issue(message="An example is missing.", category="content")
    same = Issue(message="There is an example missing.", category="content")
    other = Issue(message="An example is missing.", category="style")
    found = cluster([[one], [same], [other]])
    assert [(issue.category, issue.support) for issue in found] == [("content", 2), ("style", 1)]


def test_what_one_opinion_tells_apart_stays_apart() -> None:
    comma = at("is wrong", "A comma is missing.", category="grammar")
    tense = at("is wrong", "Use the past tense.", category="grammar")
    (group,) = ([comma, tense],)
    assert len(cluster([group])) == 2
    found = cluster([group, [tense, comma]])
    assert {issue.message: issue.support for issue in found} == {
        "A comma is missing.": 2,
        "Use the past tense.": 2,
    }


def test_an_issue_about_everything_does_not_draw_the_others_together() -> None:
    whole = at(TEXT, "All of it is unclear.", category="clarity")
    first = at("first sentence", "Too long.", category="clarity")
    second = at("second one", "Which one?", category="clarity")
    found = cluster([[whole], [first], [second]])
    assert sum(issue.support for issue in found) == 3
    assert len(found) == 2


def test_a_fix_stays_with_the_span_it_was_made_for() -> None:
    wide = at("The second one is wrong", "wrong", category="facts", fix="All new", severity=5)
    narrow = at("is wrong", "It is false.", category="facts", fix="is right", severity=1)
    without = at("wrong", "false", category="facts")
    (issue,) = cluster([[wide], [narrow], [without]])
    assert (issue.quote, issue.fix) == ("is wrong", "is right")
    assert TEXT[issue.start : issue.end] == "is wrong"
    assert (issue.message, issue.severity) == ("wrong", 5)


def test_what_is_safe_is_so_with_its_own_fix_only() -> None:
    safe = at("The second one", "x y z", category="c", fix="It", safe=True)
    guess = at("second", "x y z", category="c", fix="2nd")
    (issue,) = cluster([[safe], [guess]])
    assert (issue.fix, issue.safe) == ("2nd", False)


def test_the_order_is_that_of_the_text_and_then_as_they_came() -> None:
    found = cluster(
        [
            [Issue(message="zeta"), at("third", "c"), at("first", "a")],
            [Issue(message="alpha"), at("second", "b")],
        ]
    )
    assert [issue.message for issue in found] == ["a", "b", "c", "zeta", "alpha"]


def test_of_very_many_issues_the_gravest_are_merged_and_none_is_lost() -> None:
    minor = [Issue(message=f"Minor {n}.", severity=1) for n in range(600)]
    grave = Issue(message="An example is missing.", severity=5)
    found = cluster([[*minor, grave], [*minor, grave]])
    (merged,) = (issue for issue in found if issue.severity == 5)
    assert merged.support == 2
    assert sum(issue.support for issue in found) == 1202
    assert len(found) == 1201, "399 of the minor ones are compared, all of one opinion"
    assert {issue.message for issue in found} >= {issue.message for issue in minor}


def test_many_issues_all_over_the_text_are_merged_all_the_same() -> None:
    places = [
        Issue(message="Odd.", category="c", quote="q", start=n, end=n + 5)
        for n in range(0, 6000, 10)
    ]
    assert [issue.support for issue in cluster([places, places])] == [2] * 600
