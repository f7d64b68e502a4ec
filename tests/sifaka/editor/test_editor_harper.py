"""Harper: its process, the choice among its rules, and what it is given to read."""

import os
import pickle
import signal
from collections.abc import Sequence
from itertools import chain

import pytest

from benchmarks.quality.editor.labelled import load
from sifaka.editor import RuleChoice, grammar, lint, rule_choice
from sifaka.editor.grammar import DEFAULT, OFF
from sifaka.editor.parsed_text import ParsedText
from sifaka.editor.report import find_issues, read_ahead
from sifaka.errors import PluginError
from sifaka.tasks.check import check
from sifaka.text.formats import Format
from sifaka.text.harper import HarperLint

TEXT = "It went as follow and we saw it."


def found(text: str) -> set[str | None]:
    return {issue.rule for issue in lint(text).issues}


def pid_of(harper: grammar.Harper) -> int:
    return harper.worker.work(pickle.dumps((os.getpid, ())), seconds=5, memory=1 << 30)


@pytest.mark.slow
def test_a_process_that_was_killed_is_replaced() -> None:
    assert "harper.AsFollows" in found(TEXT)
    killed = pid_of(grammar.shared_harper())
    os.kill(killed, signal.SIGKILL)
    assert "harper.AsFollows" in found("The path goes as follow, we think.")
    assert pid_of(grammar.shared_harper()) != killed


def test_a_text_that_kills_harper_twice_is_reported_as_not_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grammar, "_MOST_SECONDS", 0.0)
    harper = grammar.Harper()
    with pytest.raises(PluginError, match="took too long"):
        harper.lint(["in in on on by " * 2_000])
    harper.close()


@pytest.mark.slow
def test_an_idle_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "_IDLE_SECONDS", 0.05)
    harper = grammar.Harper()
    before = pid_of(harper)
    harper.lint([TEXT])
    harper.idle.join(60)
    assert pid_of(harper) != before
    harper.close()


HYPHEN = "Please double click on the icon in the corner."
"""A matter of style that only a rule of Harper which is off by default finds."""


def rules(text: str, choice: RuleChoice) -> set[str]:
    return {found.rule for found in check(text, choice).diagnostics}


def test_every_rule_that_is_on_finds_a_mistake_in_the_labelled_sentences() -> None:
    samples = chain(load("tuning"), load("held_out"), load("phrases"))
    found = find_issues(
        ParsedText.read("\n\n".join(each.text for each in samples), Format.MARKDOWN),
        rule_choice(["grammar"]),
    ).issues
    assert DEFAULT - {(each.rule or "").removeprefix("harper.") for each in found} == set()


@pytest.mark.slow
def test_every_rule_is_one_of_harper() -> None:
    from harper import Linter

    known = Linter().get_default_lint_config().keys()
    assert known >= DEFAULT | OFF
    assert not DEFAULT & OFF


def test_harper_reads_the_sentences_with_signs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    read = list[str]()

    def noted(
        _: grammar.Harper, parts: Sequence[str], rules: frozenset[str]
    ) -> list[Sequence[HarperLint]]:
        read.extend(parts)
        return [() for _ in parts]

    monkeypatch.setattr(grammar.Harper, "lint", noted)
    assert lint("The door was open. It was a cold day in the old town.").degraded == ()
    assert read == []
    lint("The door was open. We came in hurry to the old town.")
    assert read == ["We came in hurry to the old town."]


def test_texts_that_are_read_ahead_are_asked_for_at_once_and_have_their_own_findings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = ["We went. It went as follow.", "No sign.", "So it was. We came in hurry, as follow."]
    alone = [lint(text).issues for text in texts]
    asked_for = list[int]()
    ask = grammar.Harper._ask  # pyright: ignore[reportPrivateUsage]

    def noted(
        harper: grammar.Harper, parts: Sequence[str], rules: frozenset[str], language: str
    ) -> list[list[HarperLint]]:
        asked_for.append(len(parts))
        return ask(harper, parts, rules, language)

    monkeypatch.setattr(grammar.Harper, "_ask", noted)
    grammar.shared_harper.cache_clear()
    held = read_ahead((text, Format.MARKDOWN, RuleChoice()) for text in texts)
    assert [lint(text, rules=RuleChoice()).issues for text in texts] == alone
    assert [len(each) for each in alone] == [1, 0, 2]
    assert asked_for == [1]
    assert held


def test_a_sign_is_a_word_and_what_has_to_follow() -> None:
    text = "It works as it is. She works as\nfollow. It is quick. It’s everyday."
    asked_for = [part for _, part in grammar.stretches(ParsedText.read(text, Format.TEXT))]
    assert asked_for == ["She works as\nfollow.", "It’s everyday."]


def test_rules_that_are_off_by_default_can_be_chosen() -> None:
    assert rules(HYPHEN, RuleChoice()) == set()
    for names in (["harper.DoubleClick"], ["harper"], ["all"], ["default", "harper.DoubleClick"]):
        assert rules(HYPHEN, rule_choice(names)) == {"harper.DoubleClick"}
    for names in (["grammar"], ["default"], ["harper.ModalOf"]):
        assert rules(HYPHEN, rule_choice(names)) == set()
    for ignored in ("harper.DoubleClick", "harper", "grammar"):
        assert rules(HYPHEN, rule_choice(["all"], [ignored])) == set()
    assert rules(HYPHEN, rule_choice(["harper"], ["all"])) == {"harper.DoubleClick"}


def test_only_wanted_rules_are_asked_for() -> None:
    assert rules("You should of seen it, as follow.", rule_choice(["harper.AsFollows"])) == {
        "harper.AsFollows"
    }
