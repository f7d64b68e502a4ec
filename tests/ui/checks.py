"""What no page may have: faults of accessibility, harm by what others wrote, and long tasks."""

from collections.abc import Callable
from typing import Any, cast

from axe_playwright_python.sync_playwright import Axe  # pyright: ignore[reportMissingTypeStubs]
from playwright.sync_api import Frame, Page


def faults(page: Page | Frame) -> list[str]:
    """What axe finds."""
    # What passes is counted alone: to describe it takes longer than to find it.
    told: Any = Axe().run(page, options={"resultTypes": ["violations"]})  # type: ignore[arg-type] - it only evaluates scripts
    found = cast("dict[str, Any]", told.response)
    return [
        f"{fault['id']}: {node['html'][:160]}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]


WATCH = (
    "delete window.hurt; window.violations = []; document.addEventListener"
    "('securitypolicyviolation', (e) => violations.push(e.violatedDirective))"
)
"""The script that has to run in a page before its own, for `harm` to see everything."""
HARMLESS: dict[str, Any] = {"hurt": None, "violations": [], "scripts": 1, "foreign": 0, "bad": 0}


_HARM = """({ hurt: window.hurt, violations: [...violations], scripts: document.scripts.length,
foreign: document.querySelectorAll(`img, iframe, object, embed, video, audio, form, base, link,
template, math, marquee, [onclick], [onerror], [onload]`).length,
bad: [...document.querySelectorAll('a[href]')].filter((each) => !/^https?:/.test(each.href)).length
})"""
_EACH_VERSION = """async (views) => {
  const found = [], buttons = document.querySelectorAll(".versions button").length;
  const tick = () => new Promise((done) => setTimeout(done));
  const text = () => document.querySelector(".reading")?.textContent ?? "";
  const shown = () => document.querySelector("[aria-current=true] .v")?.textContent;
  for (let place = buttons - 1; place >= 0; place--) {
    document.querySelectorAll(".versions button")[place].click();
    while (shown() !== `v${place}` || !text() || (place && !text().includes("again"))) await tick();
    found.push(%s);
    for (const key of views) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      do await tick(); while (!text());
      found.push(%s);
    }
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [...found, %s];
}"""


def harm_of_versions(page: Page | Frame, views: str) -> list[dict[str, Any]]:
    """What each version does when it is opened and in the views of some keys, then all at last.

    That is whether a payload has run, was refused by the policy, or became an element or a link.
    """
    script = _EACH_VERSION % (_HARM, _HARM, _HARM)
    return cast("list[dict[str, Any]]", page.evaluate(script, list(views)))


def task_milliseconds(page: Page, act: Callable[[], None]) -> list[float]:
    """The processor time of each task of the page's main thread while something is done.

    A busy machine makes a task longer by the clock, not by this.
    """
    session: Any = page.context.new_cdp_session(page)
    events: list[dict[str, Any]] = []
    is_over: list[bool] = []

    def collect(told: dict[str, Any]) -> None:
        events.extend(told["value"])

    def finish(told: object) -> None:
        del told
        is_over.append(True)

    session.on("Tracing.dataCollected", collect)
    session.on("Tracing.tracingComplete", finish)
    kinds = ["__metadata", "disabled-by-default-devtools.timeline"]
    session.send(
        "Tracing.start",
        {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": kinds}},
    )
    act()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    session.send("Tracing.end")
    while not is_over:
        page.wait_for_timeout(20)  # lets the events in
    session.detach()
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        event
        for event in events
        if event["name"] == "RunTask" and (event["pid"], event["tid"]) in main
    ]
    whole = [event["tdur"] / 1000 for event in tasks if "tdur" in event]
    # The trace may begin and end within a task of each process; what was done is between them.
    assert len(tasks) - len(whole) <= 2 * len(main)
    return whole
