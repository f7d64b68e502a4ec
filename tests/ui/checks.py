"""What no page may have: faults of accessibility, harm by what others wrote, and long tasks."""

from collections.abc import Callable
from typing import Any, cast

from axe_playwright_python.sync_playwright import Axe  # pyright: ignore[reportMissingTypeStubs]
from playwright.sync_api import Frame, Page


def faults(page: Page | Frame) -> list[str]:
    """What axe finds."""
    told: Any = Axe().run(page)  # type: ignore[arg-type] - it only evaluates scripts
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


def harm(page: Page | Frame) -> dict[str, Any]:
    """Whether a payload has run, was refused by the policy, or became an element or a link."""
    return cast(
        "dict[str, Any]",
        page.evaluate(
            "({ hurt: window.hurt, violations, scripts: document.scripts.length, foreign:"
            " document.querySelectorAll('img, iframe, object, embed, video, audio, form, base,"
            " link, template, math, marquee, [onclick], [onerror], [onload]').length,"
            " bad: [...document.querySelectorAll('a[href]')].filter((each) =>"
            " !/^https?:/.test(each.href)).length })"
        ),
    )


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
