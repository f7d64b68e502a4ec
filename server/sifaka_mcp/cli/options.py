"""Options that several commands share, and what they mean."""

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from sifaka._internal.durations import parse_duration
from sifaka._internal.explain import explain
from sifaka.errors import ConfigurationError
from sifaka.record.usage import Budget
from sifaka_mcp.cli.process import interruptible, standard_input

if TYPE_CHECKING:
    from sifaka_mcp.cli.session import Work

_LIMITS: Mapping[str, tuple[Callable[[str], int | float], str]] = MappingProxyType(
    {
        "max_calls": (int, "model calls"),
        "max_tokens": (int, "tokens, of input and output together"),
        "max_seconds": (float, "seconds of work"),
        "max_cost_usd": (float, "US dollars"),
    }
)
"""The limits of a budget, each with its type and its meaning."""
_LENGTHS = ("max_words", "min_words", "max_chars", "min_chars")
Argument = Callable[[Any], object]
"""Adds arguments to a parser, or to a group of one."""
W = TypeVar("W", bound="Work")


class Command(NamedTuple, Generic[W]):
    """What a command does, and the arguments of its parser."""

    work: W
    arguments: tuple[Argument, ...]


def command(*arguments: Argument) -> Callable[[W], Command[W]]:
    """Makes a command of the function below, which does its work: see `Session.run`."""
    return lambda work: Command(work, arguments)


def argument(*names: str, **settings: Any) -> Argument:
    """One argument or option, as `ArgumentParser.add_argument` takes it; help shows a default."""
    if settings.get("default"):
        settings["help"] = f"{settings.get('help', '')} (default: %(default)s)".lstrip()
    return lambda parser: parser.add_argument(*names, **settings)


def group(title: str, *arguments: Argument) -> Argument:
    """Options under a title of their own."""
    return lambda parser: add_all(parser.add_argument_group(title), arguments)


def either(*arguments: Argument) -> Argument:
    """Options of which at most one may be given."""
    return lambda parser: add_all(parser.add_mutually_exclusive_group(), arguments)


def fixed(**values: object) -> Argument:
    """Values that no option of the command changes."""
    return lambda parser: parser.set_defaults(**values)


def add_all(parser: Any, arguments: Iterable[Argument]) -> None:
    """Add arguments, in their order."""
    for each in arguments:
        each(parser)


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
        raise ConfigurationError(
            f"{options.file}: {UNCHECKED[format]}; --as text checks it as plain text"
        )
    return None if format is recognise(text) else format.value


def budget_of(options: argparse.Namespace) -> Budget:
    """The budget that the options describe.

    Raises:
        ConfigurationError: A limit is not valid.
    """
    return Budget(**{name: getattr(options, name) for name in _LIMITS})


def names(value: str) -> list[str]:
    """The type of an option that takes names with commas between them."""
    return [name for part in value.split(",") if (name := part.strip())]


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """The type of an option that takes a whole number between two bounds, both allowed."""

    def parse(value: str) -> int:
        if re.fullmatch(r"[0-9]{1,9}", value) and low <= int(value) <= high:
            return int(value)
        raise argparse.ArgumentTypeError(f"{value!r} is not a whole number from {low} to {high}")

    return parse


def parse_age(value: str) -> timedelta:
    """The type of an option that takes an age.

    Raises:
        argparse.ArgumentTypeError: It is not an age.
    """
    age = parse_duration(value)
    if age is None:
        raise argparse.ArgumentTypeError(f"{value!r} is not an age such as 90d, 12h or 30m")
    return age


TEXT = argument("file", metavar="FILE", help="the text; - reads standard input")
RUN = argument("run_id", metavar="RUN")
FORMAT = argument(
    "--as",
    dest="as_format",
    metavar="FORMAT",
    help="what the text is, such as rst, latex or text; recognised when left out",
)
ORIGINAL = argument("--original", metavar="FILE", help="what it is a revision of")
SPEC = argument("--spec", metavar="FILE", help="YAML or JSON: {validators, critics}")
RULES = (
    group(
        "rules",
        *(argument(f"--{limit.replace('_', '-')}", type=int, metavar="N") for limit in _LENGTHS),
        argument("--require", action="append", default=[], metavar="TERM"),
        argument("--forbid", action="append", default=[], metavar="TERM[=REPLACEMENT]"),
        # Those of `sifaka.validators.format.Syntax`, which takes long to import.
        argument("--format", choices=["csv", "html", "json", "markdown", "toml", "xml", "yaml"]),
    ),
    SPEC,
)
"""Validators: the common ones as options, all of them in a file."""
JUDGES = (
    argument("--critics", type=names, metavar="A,B", help="such as lint,self_refine"),
    argument("--model", help="auto, editor, caller or provider:name"),
    argument("--prompt", default="", metavar="P", help="the task, in words"),
)
"""The judge and the writer."""
BUDGET = group(
    "budget",
    *(
        argument(f"--{name.replace('_', '-')}", type=kind, metavar="N", help=meaning)
        for name, (kind, meaning) in _LIMITS.items()
    ),
)
TAGS = argument("--tag", action="append", default=[], help="a word to find the run by")
OUT = argument("--out", metavar="FILE", help="write the text there")
JSON = argument("--json", action="store_true", help="print the structured result")
FILTERS = (
    argument("--since", default="", metavar="D", help="only documents of then or later"),
    argument("--until", default="", metavar="D", help="only documents of before"),
    argument("--site", action="append", default=[], metavar="HOST", help="only from this host"),
)
"""The documents that count as evidence."""
EVIDENCE_MODEL = argument("--model", help="who judges: auto, caller or provider:name")


limit = partial(argument, "--limit", type=whole_number(1, 100), metavar="N", help="1 to 100")
"""The number of entries of a list."""


def read_text(file: str) -> str:
    """The text of a file, or of standard input for `-`.

    Raises:
        ConfigurationError: It cannot be read or is not UTF-8.
    """
    try:
        with interruptible():  # what is read may be a pipe
            if file != "-":
                return Path(file).read_bytes().decode("utf-8")
            return standard_input("pipe a text into it").buffer.read().decode("utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror}", "name a file, or -") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{file} is not UTF-8 at byte {error.start}", "convert it to UTF-8"
        ) from error


def specs_of(
    options: argparse.Namespace,
) -> tuple[Sequence[Mapping[str, object]], Sequence[str | Mapping[str, object]] | None]:
    """The specs of the validators and of the critics that the options describe.

    Those of the critics are None where a file names none.

    Raises:
        ConfigurationError: An option is wrong, or the file has another form.
    """
    rules, file = list(_parse_rules(options)), getattr(options, "spec", None)
    if not file:
        return rules, None
    import yaml

    text = read_text(file)
    try:
        # YAML's safe loader passes on Python's own errors for a value that is not of its tag.
        spec = _Spec.model_validate(yaml.safe_load(text))
        return [*rules, *spec.validators], spec.critics
    except yaml.YAMLError as error:
        reason = f"neither YAML nor JSON: {str(error).splitlines()[0]}"
    except ValidationError as error:
        reason = explain(error)
    except RecursionError:
        reason = "nested too deeply"
    except (ValueError, LookupError, AttributeError):
        reason = "a value is not of its YAML type"
    raise ConfigurationError(f"{file}: {reason}", "write {validators: [...], critics: [...]}")


def _parse_rules(options: argparse.Namespace) -> Iterator[Mapping[str, object]]:
    if not hasattr(options, "require"):
        return
    lengths = {name: getattr(options, name) for name in _LENGTHS}
    limits = {name: value for name, value in lengths.items() if value is not None}
    if limits:
        yield {"type": "length", **limits}
    if options.require or options.forbid:
        yield {
            "type": "content",
            "required": options.require,
            "prohibited": [_parse_term(term) for term in options.forbid],
        }
    if options.format:
        yield {"type": "format", "format": options.format}


def _parse_term(option: str) -> str | Mapping[str, str]:
    term, equals, replacement = option.partition("=")
    return {"term": term, "replacement": replacement} if equals else term


class _Spec(BaseModel, extra="forbid"):
    validators: list[dict[str, Any]] = []
    critics: list[str | dict[str, Any]] | None = None


class _NamesOrSpecs(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del parser, option_string
        entries = names(str(values or ""))
        specs = namespace.adapter_specs = tuple(each for each in entries if ":" in each)
        namespace.chosen_adapters = tuple(each for each in entries if ":" not in each)
        if specs:
            namespace.adapters = ",".join(specs)


ADAPTERS = (
    argument(
        "--adapters",
        action=_NamesOrSpecs,
        metavar="A,B",
        help="where to search: names of configured ones, or name=scheme:url as in SIFAKA_ADAPTERS",
    ),
    fixed(chosen_adapters=(), adapter_specs=()),
)
"""The sources of evidence.

A value written like a setting (`name=scheme:url`) takes the place of SIFAKA_ADAPTERS, in
`options.adapters` and `options.adapter_specs`; names alone choose among those configured, in
`options.chosen_adapters`.
"""
