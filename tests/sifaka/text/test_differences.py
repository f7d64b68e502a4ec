"""Which differences between two texts are asked about, and which are answered or noted."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.rewrites import compared, names_fault, open_of
from sifaka.text.differences import Comparison, compare

_CASES = {
    path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for path in sorted(Path(__file__).with_name("rewrites").glob("*.jsonl"))
}


def _told(found: Comparison, status: str) -> list[tuple[str, str, str]]:
    return [(d.kind, d.before, d.after) for d in found.differences if d.status == status]


@pytest.mark.parametrize("case", _CASES["own"], ids=lambda case: case["task"][:30])
def test_a_rewrite_is_asked_about_where_it_is_wrong(case: Mapping[str, Any]) -> None:
    found = compared(case)
    if case["label"] == "right":
        assert open_of(found) == []
    else:
        assert names_fault(found, case, "open", "covered", "noted")


def test_office_texts_are_mostly_taken_and_their_faults_named() -> None:
    right = [open_of(compared(case)) for case in _CASES["office"] if case["label"] == "right"]
    wrong = [
        names_fault(compared(case), case, "open", "noted")
        for case in _CASES["office"]
        if case["label"] == "wrong"
    ]
    assert sum(not asked for asked in right) >= 62
    assert sum(map(len, right)) <= 0.2 * len(right)
    assert sum(wrong) >= 21


def test_a_changed_value_is_one_difference_with_both_sides() -> None:
    found = compare("Pay 450 euros by 12 May.", "Pay 450 euros by 21 May.", task="Polish.")
    assert _told(found, "open") == [("date", "12 May", "21 May")]
    assert (found.kept, found.total) == (1, 2)


def test_differences_are_numbered_with_the_open_ones_first() -> None:
    found = compare("We met in Rome. It cost 5 euros.", "It cost 6 euros.")
    assert [(d.id, d.status) for d in found.differences][:1] == [("d1", "open")]
    assert [d.id for d in found.differences] == [f"d{n + 1}" for n in range(len(found.differences))]


def test_a_dropped_sentence_is_noted_and_never_asks() -> None:
    found = compare("Pets are not allowed. The rent is 5 euros.", "The rent is 5 euros.")
    assert _told(found, "noted") == [("dropped", "Pets are not allowed.", "")]
    assert not _told(found, "open")


def test_a_lost_figure_asks_only_where_its_sentence_stays() -> None:
    text = "The lodge opens at nine in summer. Guests pay 40 euros a night for a room."
    stays = compare(text, "The lodge opens at nine in summer. Guests pay a night for a room.")
    gone = compare(text, "The lodge opens at nine in summer.")
    assert _told(stays, "open") == [("money", "40 euros", "")]
    assert not _told(gone, "open")


def test_a_small_edit_shows_a_lost_not() -> None:
    found = compare("Guests do not pay for the course.", "Guests pay for the course.")
    assert ("small_edit", "guests do not pay for", "guests pay for") in _told(found, "noted")


@pytest.mark.parametrize("task", ["Do not change the dates.", "Keep the dates; fix it.", "Fix it."])
def test_a_word_of_the_task_does_not_switch_a_check_off(task: str) -> None:
    found = compare("We open on 3 May.", "We open on 4 May.", task=task)
    assert _told(found, "open") == [("date", "3 May", "4 May")]


@pytest.mark.parametrize(
    "task", ["Update the dates.", "Move it to 4 May.", "Replace 3 May.", "Ändere das Datum."]
)
def test_the_task_covers_what_it_asks_for(task: str) -> None:
    found = compare("We open on 3 May.", "We open on 4 May.", task=task)
    assert [(d.status, d.by) for d in found.differences] == [("covered", "task")]


def test_a_source_and_a_failing_rule_cover() -> None:
    by_source = compare("We grew.", "We grew by 12%.", sources=["Growth was 12 per cent."])
    by_rule = compare("born in 1890, they say", "born in 1980, they say", failing=["in 1890"])
    assert [d.by for d in by_source.differences if d.status == "covered"] == ["source"]
    assert [d.by for d in by_rule.differences if d.status == "covered"] == ["rule"]


@pytest.mark.parametrize(
    ("task", "status"),
    [
        ("Corrige la grammaire.", "open"),
        ("Translate into German.", "open"),
        ("Translate into English.", "covered"),
        ("Answer in English.", "covered"),
    ],
)
def test_another_language_is_a_difference_unless_it_is_asked_for(task: str, status: str) -> None:
    found = compare(
        "Le musée est ouvert tous les jours, sauf le lundi.",
        "The museum is open every day, except on Mondays.",
        task=task,
    )
    assert [d.status for d in found.differences if d.kind == "language"] == [status]


def test_data_is_compared_by_its_values() -> None:
    text = '{"service": {"port": 8080, "tls": true, "sizes": [1, 2]}}'
    same = compare(text, "service:\n  tls: true\n  sizes: [1, 2]\n  port: 8,080\n")
    other = compare(text, "service:\n  tls: false\n  sizes: [1, 2]\n  port: 8080\n")
    assert not same.differences
    assert _told(other, "open") == [("data", "service tls: true", "service tls: false")]


@pytest.mark.parametrize(
    "text", ["Note: this is prose.\nWe added 3 things.", "## Added\n- Export: to CSV\n- Import"]
)
def test_prose_that_parses_as_data_stays_prose(text: str) -> None:
    assert not [d for d in compare(text, f"{text} Fine.").differences if d.kind == "data"]


def test_any_two_texts_are_compared_without_an_error() -> None:
    signs = "aA1 .,:-/|\n\"'`*_#[](){}<>&;%€$½²３万年月日\ud800\udfff\u200b\u0301\0éßİ\t٢"
    chance = random.Random(8)  # noqa: S311, it only makes texts
    for _ in range(200):
        one, other = (
            "".join(chance.choice(signs) for _ in range(chance.randrange(60))) for _ in range(2)
        )
        compare(one, other, task=other[:20], sources=[one], failing=[one[:3]])
