"""A version as it is read: Markdown that becomes elements, and nothing else that does."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from sifaka.record.entries import Entry
from tests.ui import runs
from tests.ui.browser import Tab
from tests.ui.checks import faults, task_milliseconds

pytestmark = pytest.mark.browser
Written = Callable[[list[Entry]], str]
Tabs = Callable[..., Tab]


def of(text: str) -> list[Entry]:
    told = [(text, True, "the input")]
    return runs.entries(told, end=runs.DONE, run_id="run_0000000000000001")


@pytest.fixture
def shown(tab: Tab, as_file: Written) -> Callable[[str], str]:
    """Shows a text as it is read; what stands in the page for it, without attributes."""

    def show(text: str) -> str:
        tab.page.goto(f"{as_file(of(text))}#view=read")
        expect(tab.page.locator(".reading.md")).to_be_visible()
        html: str = tab.page.evaluate(
            "[...document.querySelectorAll('.md > .block')].map((each) => each.innerHTML)"
            ".join('').replace(/<(\\w+) [^>]*>/g, '<$1>')"
        )
        assert tab.errors == []
        return html

    return show


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# A\n\n### B ###\n\n## C", "<h3>A</h3><h4>B</h4><h4>C</h4>"),
        ("A\n=\nB\n-\nC", "<h3>A</h3><h4>B</h4><p>C</p>"),
        ("one\ntwo  \nthree", "<p>one\ntwo<br>three</p>"),
        ("**a** *b* __c__ _d_ ~~e~~ ***f***", "<p><strong>a</strong> <em>b</em> <strong>c</strong>"
         " <em>d</em> <s>e</s> <strong><em>f</em></strong></p>"),
        ("a_b_c 2 * 3 * 4 **  ** \\*x\\*", "<p>a_b_c 2 * 3 * 4 **  ** *x*</p>"),
        ("`a *b*` ``c`d``", "<p><code>a *b*</code> <code>c`d</code></p>"),
        ("[a **b**](https://x.test/y_z_(1) \"t\")",
         "<p>a <strong>b</strong><span> ‹https://x.test/y_z_(1)›</span></p>"),
        ("![a](http://evil.test/o.png)",
         "<p><span>[image] </span>a<span> ‹http://evil.test/o.png›</span></p>"),
        ("- a\n- b\n  1. c\n     d\n\n  e\n\n3) f", "<ul><li><span>a</span></li><li><span>b</span>"
         "<ol><li><span>c\nd</span></li></ol><p>e</p></li></ul><ol><li><span>f</span></li></ol>"),
        ("> a\n> - b\n\nc", "<blockquote><p>a</p><ul><li><span>b</span></li></ul></blockquote>"
         "<p>c</p>"),
        ("```py\n*a*\n\n# b\n```\nc", "<pre>*a*\n\n# b</pre><p>c</p>"),
        ("a\n***\n~~~\nnever ends", "<p>a</p><hr><pre>never ends</pre>"),
        ("|a|b|\n|-|:-:|\n|*c*|d\\|e|f|\ng", "<div><table><thead><tr><th>a</th><th>b</th></tr>"
         "</thead><tbody><tr><td><em>c</em></td><td>d|e</td></tr></tbody></table></div><p>g</p>"),
        ("<b>x</b>\n<img src=x>", "<p>&lt;b&gt;x&lt;/b&gt;\n&lt;img src=x&gt;</p>"),
        ("#hash 1.5\n-5 a|b", "<p>#hash 1.5\n-5 a|b</p>"),
    ],
)  # fmt: skip
def test_markdown_is_shown_as_it_is_read(shown: Callable[[str], str], text: str, html: str) -> None:
    assert shown(text) == html


def test_a_key_and_the_address_know_the_view(tab: Tab, as_file: Written) -> None:
    tab.page.goto(as_file(runs.many()))
    expect(tab.page.locator(".why-card")).to_have_count(40)
    tab.page.keyboard.press("r")
    expect(tab.page.locator(".md h3")).to_have_text("The export, in short")
    expect(tab.page.locator(".md :is(a, img)")).to_have_count(0)
    expect(tab.page.locator(".cols > .why")).to_have_count(0)
    assert tab.page.url.endswith("#view=read")
    tab.page.reload()
    expect(tab.page.get_by_role("button", name="Read")).to_have_attribute("aria-pressed", "true")
    expect(tab.page.locator(".md table td").nth(4)).to_have_text("")
    assert [each.url for each in tab.requests if "evil" in each.url] == []


@pytest.mark.parametrize(
    ("width", "scheme"), [(360, "light"), (360, "dark"), (760, "light"), (1400, "dark")]
)
def test_no_view_of_many_versions_scrolls_sideways_or_has_faults(
    tabs: Tabs, as_file: Written, width: int, scheme: str
) -> None:
    tab = tabs(viewport={"width": width, "height": 800}, color_scheme=scheme)
    for against in ("0", "4"):
        tab.page.goto(f"{as_file(runs.many())}#against={against}")
        for key in "dtsr":
            tab.page.keyboard.press(key)
            expect(tab.page.locator(".reading")).to_be_visible()
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width, key
            cut: list[str] = tab.page.evaluate(
                "[...document.querySelectorAll('button, select, .why-card')].filter((each) => {"
                " const list = each.closest('.versions, .whys');"
                " const room = list && !list.matches('.versions') ? list.clientWidth +"
                " list.getBoundingClientRect().left : list ? Infinity : innerWidth;"
                " return each.getBoundingClientRect().right > room + 1;"
                " }).map((each) => each.outerHTML)"
            )
            assert cut == [], key
            assert faults(tab.page) == [] if against == "0" else True, key
        tab.page.goto("about:blank")
    assert tab.errors == []


SLOW = {
    "stars": "*a **b " * 20_000,
    "brackets": "[" * 100_000 + "](" * 100_000,
    "ticks": "".join(f"{'`' * (n % 90)} " for n in range(5000)),
    "quotes": "> " * 50_000,
    "items": "\n".join(f"{' ' * (n % 40)}- a" for n in range(20_000)),
    "one item": "- " * 50_000,
    "columns": "|a" * 50_000 + "\n" + "|-" * 50_000,
    "rules": "\n".join(["- " * 400 + "x"] * 200),
    "spaces": "# a" + " " * 200_000 + "#x\n" + "a" + " " * 200_000 + "b",
    "lines": "a\n" * 50_000,
}


@pytest.mark.parametrize("name", SLOW)
def test_a_text_made_to_be_slow_is_shown(tab: Tab, as_file: Written, name: str) -> None:
    tab.page.goto(f"{as_file(of(SLOW[name]))}#view=text")
    expect(tab.page.locator(".reading")).to_be_visible()

    def read() -> None:
        tab.page.keyboard.press("r")
        expect(tab.page.locator(".reading.md")).to_be_attached()

    assert max(task_milliseconds(tab.page, read)) < 4000
    assert tab.errors == []
