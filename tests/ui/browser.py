"""A browser, and servers with runs in them."""

import shutil
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Request,
    Route,
    expect,
    sync_playwright,
)

from sifaka.errors import ThoughtNotFound
from sifaka.record.entries import Entry
from sifaka.record.run import Run
from sifaka.storage import SQLiteStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.ui.pages import page_of

PATIENCE = 20
"""Seconds that a busy machine may take to show something."""
expect.set_options(timeout=PATIENCE * 1000)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def chromium() -> Generator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("Chromium is not installed: make test-ui")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass
class Tab:
    """A page and everything that it did besides showing something."""

    page: Page
    errors: list[str] = field(default_factory=list[str])
    """Uncaught errors, and what a policy refused."""
    requests: list[Request] = field(default_factory=list[Request])


class Gate:
    """What becomes of some requests of a page.

    It is set before the page is opened: on a busy machine Chromium lets the first request after a
    later one through.
    """

    def __init__(self, page: Page, pattern: str) -> None:
        self.act: Callable[[Route], object] = Route.continue_
        page.route(pattern, lambda route: self.act(route))


@pytest.fixture
def tabs(chromium: Browser) -> Generator[Callable[..., Tab]]:
    """Opens tabs of their own; the options are those of a browser context."""
    contexts: list[BrowserContext] = []

    def opened(**options: Any) -> Tab:
        told: dict[str, Any] = {"viewport": {"width": 1400, "height": 900}, **options}
        context = chromium.new_context(**told)
        contexts.append(context)
        tab = Tab(context.new_page())
        tab.page.set_default_timeout(PATIENCE * 1000)
        tab.page.on("pageerror", lambda error: tab.errors.append(str(error)))
        tab.page.on("console", lambda m: tab.errors.append(m.text) if m.type == "error" else None)
        tab.page.on("request", lambda request: tab.requests.append(request))
        return tab

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def tab(tabs: Callable[..., Tab]) -> Tab:
    return tabs()


@pytest.fixture
def as_file(tmp_path: Path) -> Callable[[list[Entry]], str]:
    """Writes the page of a run; its address."""

    def written(told: list[Entry]) -> str:
        target = tmp_path / f"{Run.replay(told).run_id}.html"
        target.write_text(page_of(Run.replay(told)).html, encoding="utf-8")
        return target.as_uri()

    return written


@dataclass(frozen=True)
class Shelf:
    """A store on disk that a server reads while a test writes."""

    path: Path
    tenant: str = "default"

    @property
    def url(self) -> str:
        return f"sqlite:///{self.path}"

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[SQLiteStorage]:
        store = SQLiteStorage(self.path)
        try:
            yield store
        finally:
            await store.aclose()

    def put(self, told: list[Entry], tenant: str | None = None) -> Run:
        """Store a run, or the entries of it that are not stored yet."""

        async def work() -> Run:
            async with self.opened() as store:
                mine = store.scoped(tenant or self.tenant)
                run = Run.replay(told)
                known = await _known(mine, run.run_id)
                await mine.append(run, told[known:], expected_version=known)
                return run

        # Playwright has an event loop in this thread already.
        with start_blocking_portal() as portal:
            return portal.call(work)


async def _known(store: ThoughtStore, run_id: str) -> int:
    try:
        return (await store.load(run_id)).version
    except ThoughtNotFound:
        return 0


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "runs.db")
