"""Options that several commands share, and what they mean."""

import argparse
import re
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TextIO

from sifaka.errors import ConfigurationError, StorageError
from sifaka.plugins import Plugins
from sifaka.record.entries import stricter
from sifaka.record.usage import Budget
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.cli.spec import Specs, parse_spec
from sifaka_mcp.settings import Settings

if TYPE_CHECKING:
    from sifaka.chain import Chain

_LIMITS: Mapping[str, tuple[Callable[[str], int | float], str]] = MappingProxyType(
    {
        "max_calls": (int, "model calls"),
        "max_tokens": (int, "tokens, of input and output together"),
        "max_seconds": (float, "seconds of work"),
        "max_cost_usd": (float, "US dollars"),
    }
)
"""The limits of a budget, each with its type and its meaning."""


def add_text(parser: argparse.ArgumentParser) -> None:
    """The text itself."""
    parser.add_argument("file", metavar="FILE", help="the text; - reads standard input")


def add_format(parser: argparse.ArgumentParser) -> None:
    """Add the option for the format of the text."""
    parser.add_argument(
        "--as",
        dest="as_format",
        metavar="FORMAT",
        help="what the text is, such as rst, latex or text; recognised when left out",
    )


def format_of(options: argparse.Namespace, text: str) -> str | None:
    """The format of the text by the option or by the name of its file; None for that of its look.

    Raises:
        ConfigurationError: The file is source code.
    """
    if options.as_format is not None or options.file == "-":
        return options.as_format
    from sifaka.text.formats import UNCHECKED, Format, recognise

    format = recognise(text, options.file)
    if format is Format.SOURCE:
        said = f"{UNCHECKED[format]}; --as text checks it as plain text"
        raise ConfigurationError(f"{options.file}: {said}")
    return None if format in UNCHECKED or format is recognise(text) else format.value


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the options for validators."""
    rules = parser.add_argument_group("rules")
    for limit in ("max-words", "min-words", "max-chars", "min-chars"):
        rules.add_argument(f"--{limit}", type=int, metavar="N")
    rules.add_argument("--require", action="append", default=[], metavar="TERM")
    rules.add_argument("--forbid", action="append", default=[], metavar="TERM[=REPLACEMENT]")
    rules.add_argument("--format", choices=["json", "markdown", "yaml"])
    add_spec(parser)


def add_spec(parser: argparse.ArgumentParser) -> None:
    """Validators and critics with all their options."""
    parser.add_argument("--spec", metavar="FILE", help="YAML or JSON: {validators, critics}")


def add_judges(parser: argparse.ArgumentParser) -> None:
    """Add the options for the judge and the writer."""
    parser.add_argument("--critics", metavar="A,B", help="such as lint,self_refine")
    parser.add_argument("--model", help="auto, editor, caller or provider:name")
    parser.add_argument("--prompt", default="", metavar="P", help="what the text is for")


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Add the options for the limits of a run."""
    budget = parser.add_argument_group("budget")
    for name, (kind, help_) in _LIMITS.items():
        flag = f"--{name.replace('_', '-')}"
        budget.add_argument(flag, type=partial(_number, kind), metavar="N", help=help_)


def budget_of(options: argparse.Namespace) -> Budget:
    """The budget that the options describe.

    Raises:
        ConfigurationError: A limit is none.
    """
    given = {name: getattr(options, name) for name in _LIMITS}
    return Budget(**{name: value for name, value in given.items() if value is not None})


def _number(kind: Callable[[str], int | float], value: str) -> int | float:
    try:
        return kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise argparse.ArgumentTypeError(f"{value!r} is not {what}") from None


def add_json(parser: argparse.ArgumentParser) -> None:
    """The structured result instead of the printed one."""
    parser.add_argument("--json", action="store_true", help="print the structured result")


def add_require_judge(parser: argparse.ArgumentParser) -> None:
    """Rules alone are not enough: a model, a person or the caller must have judged the text."""
    parser.add_argument(
        "--require-judge", action="store_true", help="fail where nobody judged the meaning"
    )


def add_limit(parser: argparse.ArgumentParser, default: int) -> None:
    """Add the option for the number of entries of a list."""
    parser.add_argument(
        "--limit", type=whole_number(1, 100), default=default, metavar="N", help="1 to 100"
    )


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """The type of an option that takes a whole number between two bounds, both allowed."""

    def parse(value: str) -> int:
        if re.fullmatch(r"[0-9]{1,9}", value) and low <= int(value) <= high:
            return int(value)
        raise argparse.ArgumentTypeError(f"{value!r} is not a whole number from {low} to {high}")

    return parse


def read_text(file: str) -> str:
    """The text of a file, or of standard input for `-`.

    Raises:
        ConfigurationError: It cannot be read or is not UTF-8.
    """
    try:
        if file == "-":
            stdin: TextIO | None = sys.stdin
            if stdin is None:
                raise ConfigurationError("standard input is closed", "pipe a text into it")
            return stdin.buffer.read().decode("utf-8")
        return Path(file).read_bytes().decode("utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror}", "name a file, or -") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{file} is not UTF-8 at byte {error.start}", "convert it to UTF-8"
        ) from error


def chain_of(options: argparse.Namespace, settings: Settings, **more: Any) -> "Chain":
    """The chain that the options describe, on the store of the settings.

    Raises:
        ConfigurationError: An option is wrong.
    """
    from sifaka.chain import Chain
    from sifaka.models.connections import Connections
    from sifaka.models.provider import start_loading

    start_loading(settings.model)  # while the store is opened and the rest is read
    validators, critics = _spec_of(options)
    store = settings.open_store()
    more["facts"] = stricter(more.get("facts", "ask"), settings.facts)
    named = [name.strip() for name in (getattr(options, "critics", None) or "").split(",")]
    return Chain(
        model=settings.model,
        judge_model=settings.judge_model,
        fallback_models=settings.fallback_models,
        validators=[*_rules(options), *validators],
        critics=[name for name in named if name] or critics,
        store=store,
        plugins=Plugins(settings.plugins),
        adapters=settings.open_adapters(store),
        connections=Connections(settings.local_providers()),
        **more,
    )


def rules_of(options: argparse.Namespace) -> list[Mapping[str, object]]:
    """The specs of the validators that the options describe.

    Raises:
        ConfigurationError: An option is wrong.
    """
    return [*_rules(options), *_spec_of(options)[0]]


@asynccontextmanager
async def closing(chain: "Chain") -> AsyncGenerator[None]:
    """Closes the chain's connections, adapters and store at the end."""
    try:
        async with chain.resources.connections or nullcontext():
            yield
    finally:
        await chain.resources.adapters.aclose()
        await chain.store.aclose()


async def check_store(store: ThoughtStore) -> None:
    """Open the store before any work is done in vain.

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


def _spec_of(
    options: argparse.Namespace,
) -> tuple[Specs, Sequence[str | Mapping[str, object]] | None]:
    file = getattr(options, "spec", None)
    return parse_spec(read_text(file), file) if file else ((), None)


def _rules(options: argparse.Namespace) -> Iterator[Mapping[str, object]]:
    if not hasattr(options, "require"):
        return
    limits = {
        name: getattr(options, name)
        for name in ("max_words", "min_words", "max_chars", "min_chars")
        if getattr(options, name) is not None
    }
    if limits:
        yield {"type": "length", **limits}
    if options.require or options.forbid:
        yield {
            "type": "content",
            "required": options.require,
            "prohibited": [_prohibited(term) for term in options.forbid],
        }
    if options.format:
        yield {"type": "format", "format": options.format}


def _prohibited(option: str) -> str | Mapping[str, str]:
    term, equals, replacement = option.partition("=")
    return {"term": term, "replacement": replacement} if equals else term
