"""One call of a command: what it opens is closed at its end, and what it found is printed then."""

import argparse
import shlex
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import anyio

from sifaka._internal.masking import masked
from sifaka.errors import ConfigurationError, StorageError
from sifaka.plugins import Plugins
from sifaka.record.entries import stricter
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.document import check_target, write_text
from sifaka_mcp.cli.process import (
    Terminated,
    cancelled_by_termination,
    print_json,
    print_text,
    printing,
    say,
)
from sifaka_mcp.settings import Settings

if TYPE_CHECKING:
    from sifaka.chain import Chain, RunResult

Ending = Callable[[], int]
"""Prints what a command has found, after all that it opened is closed; returns the exit code."""
Work = Callable[["Session"], int | Coroutine[Any, Any, Ending]]
"""Does the work of a command; a coroutine where it opens something."""


class Session:
    """The options of a call, the settings, and what the command has opened.

    Attributes:
        options: Its options.
        settings: Those of the process.
        target: The file that a run's text goes to.
        run_id: The run on record that is worked on, which can be resumed.
    """

    def __init__(self, options: argparse.Namespace, settings: Settings) -> None:
        self.options, self.settings = options, settings
        self.target: str | None = None
        self.run_id = ""
        self._stack = AsyncExitStack()

    def run(self, work: Work) -> int:
        """Do the work of a command, and return the exit code.

        One that opens something runs in an event loop, and what it found is printed afterwards:
        there a signal ends the process at once, while in the loop a full pipe would hold it up.
        The termination signal acts like Ctrl-C in the loop, so that a run is recorded as cancelled;
        after Ctrl-C the command that resumes the run is printed.

        Raises:
            Terminated: The signal came.
        """
        outcome = work(self)
        if isinstance(outcome, int):
            return outcome
        import asyncio

        try:
            ending = anyio.run(cancelled_by_termination, self._stack, outcome)
        except asyncio.CancelledError:
            raise Terminated from None
        except KeyboardInterrupt:
            target = ("--out", self.target) if self.target else ()
            going_on = self.command("resume", self.run_id, *target)
            if self.run_id and going_on:
                say(f"interrupted; to go on: {going_on}")
            raise
        return ending()

    def command(self, *words: str) -> str:
        """A command on the store and the tenant of this one; empty where no run is kept."""
        if self.settings.store.startswith("memory:"):
            return ""
        options = (("--store", self.options.store), ("--tenant", self.options.tenant))
        flags = [word for flag, value in options if value for word in (flag, value)]
        return masked(shlex.join(["sifaka", *words, *flags]))

    def aim_at(self, target: str | None) -> None:
        """Take the file that is to be written, if any, before any work is done in vain.

        Raises:
            ConfigurationError: It cannot be written.
        """
        self.target = target
        if target:
            check_target(target)

    async def open(self, settings: Settings) -> ThoughtStore:
        """The store of some settings, which may not answer.

        Raises:
            ConfigurationError: The embedding model cannot be used.
        """
        return await self._stack.enter_async_context(aclosing(settings.open_store()))

    async def store(self) -> ThoughtStore:
        """The store of the settings, which answers.

        Raises:
            ConfigurationError: It cannot be opened.
            StorageError: Not now, but it may be later.
        """
        return await checked_store(await self.open(self.settings))

    async def chain(self, **more: Any) -> "Chain":
        """The chain that the options describe, on the store of the settings.

        Raises:
            ConfigurationError: An option is wrong.
        """
        from sifaka.chain import Chain
        from sifaka.models.provider import Connections, start_loading

        settings, options = self.settings, self.options
        start_loading(settings.model)  # while the store is opened and the rest is read
        validators, critics = opt.specs_of(options)
        store = await self.open(settings)
        adapters = await self._stack.enter_async_context(settings.open_adapters(store))
        connections = await self._stack.enter_async_context(
            Connections(call_timeout=settings.call_seconds)
        )
        more["facts"] = stricter(more.get("facts", "ask"), settings.facts)
        return Chain(
            model=settings.model,
            judge_model=settings.judge_model,
            fallback_models=settings.fallback_models,
            validators=validators,
            critics=getattr(options, "critics", None) or critics,
            store=store,
            plugins=Plugins(settings.plugins),
            adapters=adapters,
            connections=connections,
            **more,
        )

    async def reopen(self) -> tuple[Run, "Chain"]:
        """The run that an option names, and the chain that goes on with it.

        Raises:
            ConfigurationError: The store or an adapter cannot be opened.
            StorageError: The store not now, but it may be later.
            ThoughtNotFound: There is no such run.
        """
        from sifaka.chain import Chain

        self.run_id = self.options.run_id
        store = await self.store()
        run = await store.load(self.run_id)
        # Those of the command that began it, or else the configured ones.
        own = () if run.config.inquiry is None else run.config.inquiry.sources
        adapters = await self._stack.enter_async_context(self.settings.open_adapters(store, own))
        plugins = Plugins(self.settings.plugins)
        return run, Chain.of_config(run.config, store=store, plugins=plugins, adapters=adapters)

    async def begin(self, chain: "Chain", prompt: str, text: str = "") -> "RunResult":
        """Work on a new run until it is done or waits for its caller, and show its progress.

        Raises:
            ConfigurationError: The store cannot be opened.
            StorageError: Not now, but it may be later.
        """
        from sifaka_mcp.view.progress import TerminalProgress

        await checked_store(chain.store)
        handle = await chain.start(prompt, text=text)
        self.run_id = handle.run_id
        with TerminalProgress(sys.stderr, handle.run) as progress:
            return await handle.work(progress.show)

    def answer(self, value: object, show: Callable[[TextIO], object], code: int) -> Ending:
        """Prints the JSON of a value where that is asked for, else what `show` writes."""

        def end() -> int:
            with printing() as stream:
                if getattr(self.options, "json", False):
                    print_json(value, stream)
                else:
                    show(stream)
            return code

        return end

    def finish(
        self,
        result: "RunResult",
        *,
        show_text: bool = True,
        filters: bool = False,
        judged: bool = False,
    ) -> Ending:
        """Prints a run's result, and writes its text into the target.

        The code is 0 when the run is done and every required rule is met, else 1.

        Args:
            result: The result.
            show_text: False to print the report alone.
            filters: True to print the text alone, and the report on standard error.
            judged: True where a text that nobody judged is a failure.

        Raises:
            ConfigurationError: The target or standard output cannot be written.
        """

        def end() -> int:
            from sifaka_mcp.schemas.runs import out_of
            from sifaka_mcp.view.terminal import shell_door, show_run

            is_met = result.status == "done" and (result.passed if judged else result.rules_met)
            show = partial(
                show_run, result, command=self.command, show_text=show_text and not self.target
            )
            if self.target and result.text:
                write_text(self.target, result.text)
            if filters:
                print_text(result.text)
                show(sys.stderr, show_text=False)
                return int(not is_met)
            door = shell_door(self.command, result.run_id)
            out = out_of(result, door=door) if self.options.json else None
            return self.answer(out, show, int(not is_met))()

        return end


async def checked_store(store: ThoughtStore) -> ThoughtStore:
    """The same store, opened before any work is done in vain.

    Raises:
        ConfigurationError: It cannot be opened.
        StorageError: Not now, but it may be later.
    """
    try:
        await store.recent(limit=1)
    except StorageError as error:
        if error.retryable:
            raise
        raise ConfigurationError(error.message, error.suggestion) from error
    return store
