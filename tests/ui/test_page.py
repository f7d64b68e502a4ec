"""The page in a browser: what it shows, how it is used without a mouse, how long it takes."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import cast

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Page, expect

from sifaka.critics import StyleCritic
from sifaka.record.entries import (
    Critiqued,
    Decided,
    Decision,
    Drafted,
    Entry,
    Started,
    Stopped,
    Validated,
)
from sifaka.record.thought import Thought
from sifaka.validators import ContentValidator
from tests.ui import runs
from tests.ui.browser import Tab
from tests.ui.checks import faults, task_milliseconds

pytestmark = pytest.mark.browser
Written = Callable[[list[Entry]], str]
Tabs = Callable[..., Tab]


def validated(text: str, rule: ContentValidator, end: Stopped) -> list[Entry]:
    """The entries of a run with nothing but its input, checked by one rule."""
    thought = Thought(run_id="run_0000000000000001", text=text, author="input")
    return [
        Started(run_id=thought.run_id, prompt=""),
        Drafted(thought=thought),
        Validated(thought_id=thought.id, results={rule.name: rule.validate(thought)}),
        Decided(thought_id=thought.id, decision=Decision(accepted=True, note="the input")),
        end,
    ]


def test_rejected_versions_are_below_the_line(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    places = {
        kind: tab.page.locator(f".scores g.{kind} circle:not(.halo)").first.bounding_box()
        for kind in ("accepted", "stands", "refused")
    }
    ground = tab.page.locator(".scores .ground").bounding_box()
    ys = {kind: box["y"] for kind, box in places.items() if box is not None}
    assert ground is not None
    assert ys["stands"] < ys["accepted"] < ground["y"] < ys["refused"]
    expect(tab.page.locator(".versions .refused")).to_contain_text(
        "required validators failed: 1 instead of 0; 40,000 became 400,000"
    )


@pytest.mark.parametrize(
    ("told", "story", "state"),
    [
        (
            runs.release_notes(),
            "Version 3 is the result and passes: it meets 3 required rules and openai:gpt-5 accepts"
            " it. 2 remarks that it may leave are below.",
            "done",
        ),
        (
            runs.release_notes(versions=1),
            "The text as it came is the result but does not pass: length fails (93 words, at most"
            " 80 are allowed), content fails ('world-class' is not allowed) and 10 issues are"
            " left.",
            "done, does not pass",
        ),
        (
            runs.release_notes(versions=3, end=runs.WAITING),
            "Version 1 is the best so far: 3 issues are left.",
            "waits for a version",
        ),
        (runs.release_notes(versions=2, end=None), "Version 1 is the best so far.", "running"),
    ],
)
def test_the_first_sentence_says_what_happened_and_why(
    tab: Tab, as_file: Written, told: list[Entry], story: str, state: str
) -> None:
    tab.page.goto(as_file(told))
    expect(tab.page.locator(".story")).to_have_text(story)
    expect(tab.page.locator(".crumb .pill")).to_have_text(state)


def test_rules_that_are_met_are_no_judgement(tab: Tab, as_file: Written) -> None:
    rule = ContentValidator(required=["text"])
    end = Stopped(status="done", stop_reason="rules_met")
    tab.page.goto(as_file(validated("A text.", rule, end)))
    expect(tab.page.locator(".story")).to_have_text(
        "The text as it came is the result: it meets 1 required rule and nobody has judged what it"
        " says."
    )
    expect(tab.page.locator(".crumb .pill")).to_have_text("done, not judged")


def test_the_address_has_the_version_and_the_view(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    tab.page.locator(".versions button").nth(1).click()
    tab.page.get_by_role("button", name="Side by side").click()
    expect(tab.page).to_have_url(re.compile("#version=1&view=side$"))
    tab.page.reload()
    expect(tab.page.locator("[aria-current=true] .v")).to_have_text("v1")
    expect(tab.page.locator(".side h3")).to_have_text(["Version 0", "Version 1"])


def test_the_text_of_a_version_is_copied_and_downloaded(tabs: Tabs, as_file: Written) -> None:
    tab = tabs(permissions=["clipboard-read", "clipboard-write"])
    tab.page.goto(as_file(runs.release_notes()))
    tab.page.get_by_role("button", name="Copy").click()
    expect(tab.page.get_by_role("button", name="Copied")).to_be_visible()
    assert tab.page.evaluate("navigator.clipboard.readText()") == runs.FOURTH
    with tab.page.expect_download() as waiting:
        tab.page.get_by_role("button", name="Download").click()
    assert waiting.value.suggested_filename == "run_00000000release-v3.txt"
    assert waiting.value.path().read_text(encoding="utf-8") == runs.FOURTH
    assert tab.errors == []


def test_a_question_mark_lists_the_keys(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    expect(tab.page.locator(".reading")).to_be_visible()
    tab.page.keyboard.press("?")
    expect(tab.page.get_by_role("dialog", name="Keys")).to_contain_text("next change")
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)


def test_one_card_is_open_and_the_others_are_short(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    cards = tab.page.locator(".why-card")
    expect(cards.first.locator(".meta")).to_be_hidden()
    for card in (cards.nth(0), cards.nth(2)):
        card.locator(".swap").click()
        expect(card.locator(".meta")).to_be_visible()
        expect(tab.page.locator(".why-card .meta:visible")).to_have_count(1)


def test_each_change_has_its_number_and_its_reason(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    count = tab.page.locator(".reading .n").count()
    cards = tab.page.locator(".why-card")
    expect(cards).to_have_count(count)
    first = cards.first
    expect(first).to_contain_text("Say what is new, not how you feel.")
    expect(first).to_contain_text("lint")
    first.get_by_role("button", name="Show 1 in the text").click()
    expect(tab.page.locator("#n1")).to_be_focused()
    text: str = tab.page.evaluate(
        "[...document.querySelectorAll('.reading .block')].map((each) => { const copy ="
        " each.cloneNode(true); copy.querySelectorAll('del, button').forEach((n) => n.remove());"
        " return copy.textContent; }).join('')"
    )
    assert text == runs.FOURTH


@pytest.mark.parametrize("mark", ["\u202e", "\u2066", "\u200b", "\u00ad", "\ufeff", "\U000e0041"])
def test_what_hides_words_is_spelt_out_everywhere(tab: Tab, as_file: Written, mark: str) -> None:
    tab.page.goto(as_file(runs.hostile([f"pay{mark}gpj.exe"], f"run_{1:016x}")))
    tab.page.locator(".reading").wait_for()
    seen: str = tab.page.evaluate("document.title + document.body.textContent")
    assert f"pay[U+{ord(mark):04X}]gpj.exe" in seen
    told: str = tab.page.evaluate(
        "[...document.querySelectorAll('main *')].flatMap((each) => [each.title || '',"
        " each.getAttribute('aria-label') || '', ...[...each.childNodes].filter((n) =>"
        " n.nodeType === 3).map((n) => n.data)]).join(' ')"
    )
    assert mark not in told + cast("str", tab.page.evaluate("document.title"))


def test_a_card_says_each_name_once(tab: Tab, as_file: Written) -> None:
    rule = ContentValidator(prohibited=["world-class"])
    tab.page.goto(as_file(validated("A world-class text.", rule, runs.DONE)))
    expect(tab.page.locator(".why-card .meta > span:not([title])")).to_have_text(
        ["content", "rule prohibited"]
    )


def test_the_text_has_its_issues_and_both_stand_side_by_side(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    tab.page.get_by_role("button", name="Text", exact=True).click()
    expect(tab.page.locator("mark")).to_have_text(["faster than anything else that is out there"])
    expect(tab.page.locator(".why-card")).to_contain_text(["Name a measurement."])
    tab.page.get_by_role("button", name="Side by side").click()
    expect(tab.page.locator(".side h3")).to_have_text(["Version 0", "Version 3"])
    tab.page.get_by_label("against").select_option("v1, its parent")
    expect(tab.page.locator(".side h3")).to_have_text(["Version 1", "Version 3"])


def test_findings_of_style_are_shown_in_the_text(tab: Tab, as_file: Written) -> None:
    text = "In today's fast-paced world, it is important to note that the export delves into data."
    told = runs.entries([(text, True, "the input")], end=runs.DONE, run_id="run_0000000000000001")
    with start_blocking_portal() as portal:
        found = portal.call(StyleCritic().critique, Thought(run_id="run_0", text=text))
    places = [text[each.start : each.end] for each in found.issues]
    assert places
    told = [
        each.model_copy(update={"feedback": (found,)}) if isinstance(each, Critiqued) else each
        for each in told
    ]
    tab.page.goto(as_file(told))
    expect(tab.page.locator("mark")).to_have_text(places)
    expect(tab.page.locator(".why-card .meta")).to_contain_text(["style"] * len(places))


def test_each_reason_stands_beside_its_place_with_room(tab: Tab, as_file: Written) -> None:
    paragraphs = "".join(f"Paragraph {n} is {{}}.\n\n\n\n" for n in range(30))
    told = [
        (paragraphs.format(*["old"] * 30), True, ""),
        (paragraphs.format(*["new"] * 30), True, "new"),
    ]
    tab.page.goto(as_file(runs.entries(told, end=runs.DONE, run_id="run_0000000000000001")))
    expect(tab.page.locator(".why-card")).to_have_count(30)

    def apart(n: int) -> float:
        boxes = [tab.page.locator(f"#{each}{n}").bounding_box() for each in ("n", "why")]
        assert boxes[0] is not None
        assert boxes[1] is not None
        return boxes[1]["y"] - boxes[0]["y"]

    assert abs(apart(1)) < 30
    tab.page.keyboard.press("j")
    for _ in range(24):
        tab.page.keyboard.press("j")
    expect(tab.page.locator("#why25.on")).to_be_visible()
    tab.page.wait_for_function(
        "() => Math.abs(document.getElementById('n25').getBoundingClientRect().top"
        " - document.getElementById('why25').getBoundingClientRect().top) < 30"
    )
    boxes = [each.bounding_box() for each in tab.page.locator(".why-card").all()]
    ends = [(box["y"], box["y"] + box["height"]) for box in boxes if box]
    assert all(end <= start for (_, end), (start, _) in pairwise(ends))
    tab.page.set_viewport_size({"width": 760, "height": 900})
    expect(tab.page.locator(".aligned")).to_have_count(0)


def test_rules_critics_evidence_and_the_brief_are_shown(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes(end=runs.WAITING)))
    expect(tab.page.locator("table tbody tr")).to_have_count(4)
    expect(tab.page.locator("td.fail")).to_have_count(3)
    expect(tab.page.locator(".fall .cost").filter(has_text="$0.0012")).to_have_count(4)
    expect(tab.page.locator("blockquote")).to_contain_text("40,112 teams")
    expect(tab.page.get_by_role("link", name="Beta report")).to_have_attribute(
        "href", "https://wiki.example/beta-report"
    )
    expect(tab.page.locator("#brief")).to_contain_text("Judge it by")
    expect(tab.page.locator("#brief")).to_contain_text("In a shell: sifaka submit run_")


def test_the_keyboard_alone_reaches_everything(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.release_notes()))
    keys = tab.page.keyboard
    expect(tab.page.locator(".reading")).to_be_visible()
    keys.press("j")
    expect(tab.page.locator("#n1")).to_be_focused()
    keys.press("j")
    expect(tab.page.locator("#why2.on")).to_be_visible()
    keys.press("[")
    expect(tab.page.locator("[aria-current=true] .v")).to_have_text("v2")
    expect(tab.page.locator(".banner.bad")).to_contain_text("Rejected")
    keys.press("t")
    expect(tab.page.get_by_role("button", name="Text", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    wanted = cast(
        "int",
        tab.page.evaluate(
            "[...document.querySelectorAll('button, a[href], select, [tabindex=\"0\"]')]"
            ".filter((each) => each.offsetParent).length"
        ),
    )
    tab.page.evaluate("document.activeElement.blur(); window.met = new Set()")
    for _ in range(wanted + 2):
        keys.press("Tab")
        tab.page.evaluate(
            "document.activeElement !== document.body && met.add(document.activeElement)"
        )
    assert tab.page.evaluate("met.size") == wanted
    tab.page.locator(".versions button").first.focus()
    keys.press("Enter")
    expect(tab.page.locator("[aria-current=true] .v")).to_have_text("v0")
    expect(tab.page.locator(".versions button").first).to_be_focused()


@pytest.mark.parametrize(
    ("width", "scheme"), [(360, "light"), (360, "dark"), (760, "light"), (1400, "dark")]
)
def test_axe_finds_nothing_and_nothing_is_cut_off(
    tabs: Callable[..., Tab], as_file: Written, width: int, scheme: str
) -> None:
    tab = tabs(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab.page.goto(as_file(runs.release_notes(end=runs.WAITING)))
    expect(tab.page.locator("html")).to_have_attribute("data-theme", scheme)
    for key in "dtsr[":
        tab.page.keyboard.press(key)
        expect(tab.page.locator(".reading")).to_be_visible()
        assert faults(tab.page) == [], key
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, key
    assert tab.errors == []


@pytest.mark.timeout(400)
def test_fifty_long_versions_open_at_once_and_scroll_smoothly(
    tab: Tab, as_file: Written, record_property: Callable[[str, object], None]
) -> None:
    address = as_file(runs.long_run())
    best = _opened(tab.page, address)
    for _ in range(5):  # something else may have had the processor
        best = min(best, _opened(tab.page, address)) if best > 1000 else best
    record_property("milliseconds", best)
    expect(tab.page.locator(".versions li")).to_have_count(50)
    assert best <= 1000
    tab.page.wait_for_timeout(500)

    def scroll() -> None:
        for _ in range(30):
            tab.page.mouse.wheel(0, 900)
            tab.page.wait_for_timeout(30)

    tasks = task_milliseconds(tab.page, scroll)
    record_property("longest task", max(tasks))
    assert len(tasks) > 30, "each turn of the wheel is work"
    assert max(tasks) <= 100


def _opened(page: Page, address: str) -> float:
    """Milliseconds from the beginning of the navigation to a text on the screen."""
    page.goto("about:blank")
    page.goto(address, wait_until="commit")
    page.locator(".reading .block").first.wait_for()
    return cast("float", page.evaluate("performance.now()"))


def test_a_line_of_a_million_characters_is_shown_whole(tab: Tab, as_file: Written) -> None:
    line = "word " * 200_000
    told = [(line, True, ""), (line.replace("word word", "words", 1), True, "shorter")]
    tab.page.goto(as_file(runs.entries(told, end=runs.DONE, run_id="run_0000000000000001")))
    for key in "dts":
        tab.page.keyboard.press(key)
        tab.page.wait_for_function(
            "() => [...document.querySelectorAll('.reading > *')].reduce((sum, each) =>"
            " sum + each.textContent.length, 0) > 999000"
        )
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1400
