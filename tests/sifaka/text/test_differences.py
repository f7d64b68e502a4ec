"""What is read from a text, and which differences of two texts are asked about."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.quality.rewrites import compared, names_fault, open_of
from sifaka.text.differences import Differences, compare
from sifaka.text.numbers_and_names import Statement, is_same, normalised, read

_CASES = {
    path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for path in sorted(Path(__file__).with_name("rewrites").glob("*.jsonl"))
}


def _told(found: Differences, status: str) -> list[tuple[str, str, str]]:
    return [(d.kind, d.before, d.after) for d in found.differences if d.status == status]


@pytest.mark.parametrize("case", _CASES["own"], ids=lambda case: case["task"][:30])
def test_a_rewrite_is_asked_about_where_it_is_wrong(case: Mapping[str, Any]) -> None:
    found = compared(case)
    if case["label"] == "right":
        assert open_of(found) == []
    else:
        assert names_fault(found, case, "open", "covered", "noted")


@pytest.mark.slow
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


def test_differences_have_both_sides_and_the_open_ones_are_numbered_first() -> None:
    found = compare("Pay 450 euros by 12 May.", "Pay 450 euros by 21 May.", task="Polish.")
    assert _told(found, "open") == [("date", "12 May", "21 May")]
    assert (found.kept, found.total) == (1, 2)
    found = compare("We met in Rome. It cost 5 euros.", "It cost 6 euros.")
    assert [(d.id, d.status) for d in found.differences][:1] == [("d1", "open")]
    assert [d.id for d in found.differences] == [f"d{n + 1}" for n in range(len(found.differences))]


def test_dropped_sentences_and_small_edits_are_noted_and_never_ask() -> None:
    found = compare("Pets are not allowed. The rent is 5 euros.", "The rent is 5 euros.")
    assert _told(found, "noted") == [("dropped", "Pets are not allowed.", "")]
    assert not _told(found, "open")
    found = compare("Guests do not pay for the course.", "Guests pay for the course.")
    assert ("small_edit", "Guests do not pay for", "Guests pay for") in _told(found, "noted")


@pytest.mark.parametrize("word", ["can", "must", "would", "should", "does", "will"])
def test_a_contraction_that_is_lost_is_told_like_the_word_that_it_stands_for(word: str) -> None:
    no = {"can": "can't", "will": "won't"}.get(word, f"{word}n't")
    pair = (f"Members {no} cancel before March.", f"Members {word} cancel before March.")
    for before, after in (pair, pair[::-1]):
        ((kind, *sides),) = _told(compare(before, after), "noted")
        assert kind == "small_edit"
        assert [no in side for side in sides] == [no in before, no in after]
    long = {"can": "cannot", "will": "will not"}.get(word, f"{word} not")
    spelt_out = compare(pair[0], f"Members {long} cancel before March.")
    assert word == "will" or not spelt_out.differences


def test_a_word_that_stood_twice_is_no_edit() -> None:
    assert not compare(
        "You can expect the the parcel today.", "You can expect the parcel today."
    ).differences


def test_a_day_that_was_only_spelt_wrongly_is_not_new() -> None:
    assert not _told(compare("We met on Teusday at ten.", "We met on Tuesday at ten."), "open")
    assert _told(compare("We met on deck at ten.", "We met on Tuesday at ten."), "open")
    assert _told(compare("Take order 48213 along.", "Take order 48231 along."), "open")


def test_a_lost_figure_asks_only_where_its_sentence_stays() -> None:
    text = "The lodge opens at nine in summer. Guests pay 40 euros a night for a room."
    stays = compare(text, "The lodge opens at nine in summer. Guests pay a night for a room.")
    gone = compare(text, "The lodge opens at nine in summer.")
    assert _told(stays, "open") == [("money", "40 euros", "")]
    assert not _told(gone, "open")


@pytest.mark.parametrize(
    ("tasks", "answer"),
    [
        (("Update the dates.", "Move it to 4 May.", "Replace 3 May."), ("covered", "task")),
        (("Ändere das Datum.",), ("covered", "task")),
        (("Do not change the dates.", "Keep the dates; fix it.", "Fix it."), ("open", "")),
    ],
)
def test_the_task_covers_what_it_asks_for_and_not_what_it_only_names(
    tasks: tuple[str, ...], answer: tuple[str, str]
) -> None:
    for task in tasks:
        found = compare("We open on 3 May.", "We open on 4 May.", task=task)
        assert [(d.status, d.by) for d in found.differences] == [answer], task


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
        ("English version please, for the handbook.", "covered"),
    ],
)
def test_another_language_is_a_difference_unless_it_is_asked_for(task: str, status: str) -> None:
    found = compare(
        "Le musée est ouvert tous les jours, sauf le lundi.",
        "The museum is open every day, except on Mondays.",
        task=task,
    )
    assert [d.status for d in found.differences if d.kind == "language"] == [status]


@pytest.mark.parametrize(
    ("text", "version", "pair"),
    [
        (
            "Deposits are returned within 2 weeks if all is well. The key is in flat 3.",
            "Your deposit is returned within 3 weeks if all is well. The key is in flat 3.",
            ("number", "2 weeks", "3 weeks"),
        ),
        (
            "Last week Anna Berg had the key. Today it is with Tom Hall in the shop.",
            "Last week Tom Hall had the key. Today it is with Tom Hall in the shop.",
            ("name", "Anna Berg", "Tom Hall"),
        ),
        (
            "Year 8 | Mr Lindqvist | Room 211\nYear 9 | Ms Rowntree | Room 117",
            "Year 8 meets Mr Lindqvist in Room 117, and Year 9 Ms Rowntree in Room 211.",
            ("order", "Room 117", "Room 211"),
        ),
    ],
)
def test_what_took_the_place_of_something_that_stands_elsewhere_too_asks(
    text: str, version: str, pair: tuple[str, str, str]
) -> None:
    assert pair in _told(compare(text, version, task="Make it friendlier."), "open")


def test_a_value_of_the_task_that_was_not_entered_is_noted_but_no_limit() -> None:
    task = "Put the fee of 44 euros in, under 30 words. Only section 2."
    found = compare("The fee is low.", "The fee is small.", task=task)
    assert ("not_entered", "44 euros", "") in _told(found, "noted")
    assert len([d for d in found.differences if d.kind == "not_entered"]) == 1


@pytest.mark.parametrize(
    ("text", "version", "status"),
    [
        ("Got 18,640 € of 24,000 €.", "Got 18,640 € of 24,000 €; 5,360 € are left.", "covered"),
        ("Got 18,640 € of 24,000 €.", "Got 18,640 € of 24,000 €; 5,630 € are left.", "open"),
        ("Out from 02:14 to 03:51.", "Out for 97 minutes, from 02:14 to 03:51.", "covered"),
        ("Out from 02:14 to 03:51.", "Out for 79 minutes, from 02:14 to 03:51.", "open"),
        ("Halls of 120 and 135 seats.", "Halls of 120 and 135 seats: 255.", "open"),
    ],
)  # fmt: skip
def test_a_new_figure_that_is_worked_out_from_others_is_answered(
    text: str, version: str, status: str
) -> None:
    found = compare(text, version, task="Polish it.").differences
    assert [(d.status, d.by) for d in found if d.kind in {"number", "money"}] == [
        (status, "arithmetic" if status == "covered" else "")
    ]


def test_of_many_figures_none_is_worked_out() -> None:
    text = "Paid: " + ", ".join(f"{137 * n * n} euros" for n in range(1, 15)) + "."
    found = compare(text, f"{text[:-1]} (411 euros more).", task="Polish it.")
    assert ("money", "", "411 euros") in _told(found, "open")


@pytest.mark.parametrize(
    ("task", "text", "version", "open_"),
    [
        ("We are 16 now.", "For 8: 400 g rice, 60 ml oil.", "For 16: 800 g rice, 120 ml oil.", 0),
        ("We are 16 now.", "For 8: 400 g rice, 60 ml oil.", "For 16: 800 g rice, 90 ml oil.", 1),
        ("The fee is up by 10 euros.", "The fee is 165 euros.", "The fee is 175 euros.", 0),
        ("The fee is up by 10 euros.", "The fee is 165 euros.", "The fee is 185 euros.", 1),
        ("Start at 9:30.", "Start at 9:00, lunch at 12:00.", "Start at 9:30, lunch at 12:30.", 0),
        ("Start at 9:30.", "Start at 9:00, lunch at 12:00.", "Start at 9:30, lunch at 13:00.", 1),
    ],
)
def test_what_is_changed_in_step_with_the_task_is_covered(
    task: str, text: str, version: str, open_: int
) -> None:
    assert len(_told(compare(text, version, task=task), "open")) == open_


def test_names_and_addresses_go_where_a_text_is_made_anonymous() -> None:
    text = "Ask Luc Petit (luc.petit@acme.example) today, please, for the key."
    found = compare(text, "Ask Parent B today, please, for the key.", task="Anonymise this.")
    assert {d.status for d in found.differences} == {"covered"}


def test_a_much_shorter_version_leaves_out_on_purpose() -> None:
    text = "We met on 3 May in the hall by the river, where all of us had a fine time."
    assert not _told(compare(text, "We had a fine time in the hall."), "open")
    nearly = text.replace("on 3 May ", "")
    assert _told(compare(text, nearly), "open") == [("date", "3 May", "")]


def test_short_forms_of_names_and_figures_within_code_are_the_same() -> None:
    assert not compare("Meet at Mill Rd today.", "Meet at Mill Road today.").differences
    found = compare("It listens at 8085 now.", "It listens now: `host:8085`.", task="Rewrite.")
    assert not [d for d in found.differences if d.kind == "number"]


@pytest.mark.parametrize(("task", "told"), [("Fix only the typos.", True), ("Polish it.", False)])
def test_larger_edits_of_a_sentence_are_told_where_the_task_is_narrow(
    task: str, told: bool
) -> None:
    text = "Whoever is two months behind with the fee shall cease to be a member of the club."
    version = "If you are two months behind with the fee, your membership of the club ends."
    noted = [kind for kind, *_ in _told(compare(text, version, task=task), "noted")]
    assert ("small_edit" in noted) is told


def test_a_pipe_in_a_cell_of_a_table_is_escaped() -> None:
    version = "| id | note |\n|---|---|\n| 1 | a \\| b |\n| 2 | c |"
    assert not compare("id,note\n1,a | b\n2,c", version, task="As a table.").differences


def test_data_is_compared_by_its_values() -> None:
    text = '{"service": {"port": 8080, "tls": true, "sizes": [1, 2]}}'
    same = compare(text, "service:\n  tls: true\n  sizes: [1, 2]\n  port: 8,080\n")
    other = compare(text, "service:\n  tls: false\n  sizes: [1, 2]\n  port: 8080\n")
    assert not same.differences
    assert _told(other, "open") == [("data", "service tls: true", "service tls: false")]
    one = '{"name": "Ada", "born": "1815", "fields": "logic"}'
    listed = '{"name": "Ada", "born": 1815, "fields": ["logic"]}'
    assert not compare(one, listed).differences
    other = compare(one, listed.replace("logic", "poetry"))
    assert _told(other, "open") == [("data", "fields: logic", "fields: poetry")]
    table = "item,due\nlift,21/10/2024\nladder,05/02/2025\n"
    found = compare(table, table.replace("21/10/2024", "2024-10-21").replace("05/02", "06/02"))
    assert [each.before for each in found.differences] == ["ladder due: 05/02/2025"]


@pytest.mark.parametrize(
    "text", ["Note: this is prose.\nWe added 3 things.", "## Added\n- Export: to CSV\n- Import"]
)
def test_prose_that_parses_as_data_stays_prose(text: str) -> None:
    assert not [d for d in compare(text, f"{text} Fine.").differences if d.kind == "data"]


@pytest.mark.slow
def test_any_two_texts_are_compared_without_an_error() -> None:
    signs = "aA1 .,:-/|\n\"'`*_#[](){}<>&;%€$½²３万年月日\ud800\udfff\u200b\u0301\0éßİ\t٢"
    chance = random.Random(8)  # noqa: S311, it only makes texts
    for _ in range(200):
        one, other = (
            "".join(chance.choice(signs) for _ in range(chance.randrange(60))) for _ in range(2)
        )
        compare(one, other, task=other[:20], sources=[one], failing=[one[:3]])


def test_a_version_in_a_fence_is_compared_by_what_stands_in_it() -> None:
    rates = "room: Oak\nday: 420\nhalf: 260\n"
    fenced = f"```yaml\n{rates}```\n"
    assert compare(rates, fenced).differences == ()
    (changed,) = compare(rates, fenced.replace("420", "430")).differences
    assert "430" in changed.after


def test_what_the_material_of_a_task_says_is_no_sentence_without_a_source() -> None:
    note = "- the lift is out of service on Monday and nobody has been told so far\n"
    text, said = "Dear tenants,", "The lift is out of service on Monday, nobody was told so far."
    for task, added in ((f"Write the notice.\n\nNotes:\n{note * 7}", False), ("", True)):
        found = compare(text, f"{text}\n\n{said}", task=task).differences
        assert ("added" in {each.kind for each in found}) is added


def test_a_value_that_the_task_replaces_is_noted_where_the_old_one_still_stands() -> None:
    text = "It begins on Monday at 9:30. Doors open early. On Monday we begin at 9:30 sharp."
    half = text.replace("at 9:30.", "at 14:00.")
    task = "The workshop moves to 14:00. Put it in wherever it belongs."
    assert ("not_entered", "14:00", "9:30") in _told(compare(text, half, task=task), "noted")
    whole = compare(text, text.replace("9:30", "14:00"), task=task)
    assert "not_entered" not in {each.kind for each in whole.differences}


def test_what_the_notes_of_a_task_have_as_number_or_code_is_no_news() -> None:
    notes = "- run `tool backup /mnt --keep 7`, see issue 412, it saves all of the photos\n" * 7
    task = f"Write the section.\n\n{notes}"
    version = "Run the tool.\n\n`tool backup /mnt` keeps all photos (#412). See also `findmnt`."
    found = compare("Run the tool.", version, task=task)
    assert [each.after for each in found.differences if each.status == "open"] == ["`findmnt`"]


def test_another_month_of_the_same_day_is_asked_about() -> None:
    before, after = "We meet on 4 March at nine.", "We meet on 4 May at nine."
    assert _told(compare(before, after), "open") == [("date", "4 March", "4 May")]
    assert not _told(compare("Due on 04/03/2026.", "Due on 4 March 2026."), "open")


def test_a_new_date_is_no_number_that_stands_elsewhere() -> None:
    text = "The workshop is on Tuesday, 22 September 2026. There are 24 seats."
    moved = text.replace("Tuesday, 22", "Thursday, 24")
    found = compare(text, moved, task="It moves to Thursday, 24 September 2026.")
    assert _told(found, "covered") == [
        ("date", "Tuesday, 22 September 2026", "Thursday, 24 September 2026")
    ]
    assert not _told(found, "open")


def _only(text: str) -> Statement:
    (statement,) = read(text)
    return statement


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tue 12 Nov", "Tuesday 12 November"),
        ("1 May", "1er mai"),
        ("2024-03-05", "March 5, 2024"),
        ("2025年5月14日", "14 May 2025"),
        ("1990s", "1990–1999"),
        ("Q1", "the first quarter"),
        ("3pm", "15:00"),
        ("19 h 30", "午後7時30分"),
        ("half past nine", "9:30"),
        ("noon", "12:00"),
        ("half", "50%"),
        ("two thirds", "2/3"),
        ("2½ hours", "150 minutes"),
        ("125万", "1.25 million"),
        ("1.250.000 €", "€1,250,000"),
        ("CHF 12'500", "12 500 Franken"),
        ("$1.2m", "1.2 million dollars"),
        ("5h 40min", "340 min"),
        ("0.5 l", "500 ml"),
        ("twenty-five", "25"),
        ("10 miles", "16 km"),
        ("68 °F", "20 °C"),
        ("+44 20 7946 0018", "+44 (20) 79460018"),
        ("www.acme.io/docs", "https://acme.io/docs/"),
        ("the 15th", "15 June"),
        ("07/2023", "July 2023"),
        ("4.15 to 4.45 pm", "16:15"),
        ("from 0945 on", "9:45"),
        ("30–45 minutes", "half an hour"),
        ("Dienstagmorgen", "Tuesday"),
        ("Mo 16–18 Judo, Di 9–11 Yoga, Mi zu", "Mittwoch"),
        ("2.2 kW", "2200"),
        ("3 Aug 25", "2025-08-03"),
    ],
)
def test_two_notations_say_the_same(one: str, other: str) -> None:
    first, second = read(one), read(other)
    assert any(is_same(a, b) for a in first for b in second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 May", "21 May"),
        ("Monday 12 May", "Tuesday 12 May"),
        ("7:30 pm", "7:30"),
        ("5 mg", "5 g"),
        ("10 miles", "61 km"),
        ("+44 20 7946 0018", "+44 20 7946 0081"),
        ("2024-0388", "2024-0389"),
    ],
)
def test_two_values_are_told_apart(one: str, other: str) -> None:
    assert not is_same(_only(one), _only(other))


@pytest.mark.parametrize(
    ("text", "heard"),
    [
        ("the ﬁrst ofﬁce", "the first office"),
        ("con-\nsidered", "considered"),
        ("It grew.[3] Fast[12].", "It grew. Fast."),
        ("some 12\n500 people", "some 12500 people"),
        ("zero\u200bwidth\u00ad", "zerowidth"),
        ("## A *bold* `claim` in [a link](https://a.example)", "A bold claim in a link"),
        ("- [x] done", "done"),
    ],
)
def test_a_text_is_normalised(text: str, heard: str) -> None:
    assert normalised(text) == heard


@pytest.mark.parametrize(
    "text",
    [
        "NOTHING IS FREE IN THIS SHOP.",
        "Dear Valued Customer,\nthank you.",
        "The shop is open. Guests are welcome.",
    ],
)
def test_a_capital_letter_alone_makes_no_name(text: str) -> None:
    assert not [each for each in read(text) if each.kind == "name" and not each.weak]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("12\n500\n", ["12", "500"]),
        ("14,42.2,2310", ["14", "42.2", "2310"]),
        (
            "We told Paula Stein, Dr. Lund and Ann's boss in Turin.",
            ["Paula Stein", "Lund", "Ann", "Turin"],
        ),
        (
            "Wir haben die Werkstatt im Hof gesehen, und Herr Weber war mit Marta Gil auch da.",
            ["Weber", "Marta Gil"],
        ),
    ],
)
def test_figures_are_read_one_by_one_and_names_where_nouns_have_no_capital_or_all_have(
    text: str, found: list[str]
) -> None:
    assert [each.text for each in read(text)] == found


def test_titles_and_names_are_no_figures_of_a_text() -> None:
    assert not read("Je vous prie d'agréer, Madame, mes salutations.")
    assert [(s.kind, s.text) for s in read("fixed in a81f3c2 by us")] == [("name", "a81f3c2")]
    found = read("GPT-4 and COVID-19 are in step 3 of Article 5.")
    assert {each.kind for each in found} == {"name"}


def test_code_addresses_and_quotations_stand_as_they_are() -> None:
    text = 'Run `a --b 3`, see https://x.example/7 or mail c@d.example: "It costs 5 euros."'
    assert [(each.kind, each.text) for each in read(text)] == [
        ("code", "`a --b 3`"),
        ("url", "https://x.example/7"),
        ("url", "c@d.example"),
        ("quote", '"It costs 5 euros."'),
        ("money", "5 euros"),
    ]


def test_places_count_in_the_text_as_it_is_given() -> None:
    text = "**ﬁne**\u200b: 12\u202f500 € on the 1st of May, [docs](https://a.example)"
    assert all(text[each.start : each.end] == each.text for each in read(text))


def test_any_text_is_read_without_an_error() -> None:
    signs = "aA1 .,:-/|\n\"'`*_#[](){}<>&;%€$½²３万年月日\ud800\udfff\u200b\u0301\0éßİ\t٢"
    chance = random.Random(7)  # noqa: S311, it only makes texts
    for _ in range(300):
        text = "".join(chance.choice(signs) for _ in range(chance.randrange(60)))
        assert all(each.text in text for each in read(text))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("It is -20 °C outside.", "It is \u22124 °F outside.", True),
        ("It is 20 °C outside.", "It is \u22124 °F outside.", False),
        ("70 cm x 40 cm", "| 27.6 × 15.7 in |", True),
        ("Visitors may enter.", "Staff and visitors may enter.", True),
    ],
)
def test_lengths_in_a_chain_degrees_below_zero_and_the_word_may(
    one: str, other: str, same: bool
) -> None:
    told, known = read(other), read(one)
    assert all(any(is_same(each, every) for every in known) for each in told) is same
