"""`sifaka forget`: delete or move old runs; without `--yes` it only says which."""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from types import MappingProxyType

import anyio

from sifaka._internal.durations import UNITS, parse_duration
from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.retention import (
    Outcome,
    Policy,
    RetentionFailure,
    RetentionPlan,
    carry_out,
    plan,
)
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_json, print_lines
from sifaka_mcp.settings import Settings

_SIZES: Mapping[str, int] = MappingProxyType(
    {"TB": 10**12, "GB": 10**9, "MB": 10**6, "KB": 10**3, "B": 1}
)


def parse_age(value: str) -> timedelta:
    """The type of an option that takes an age.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    age = parse_duration(value)
    if age is None:
        raise argparse.ArgumentTypeError(f"{value!r} is not an age such as 90d, 12h or 30m")
    return age


def parse_size(value: str) -> int:
    """The type of an option that takes a size, in bytes; a KB has 1000.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([KMGT]?B)", value, re.IGNORECASE)
    if found is None:
        raise argparse.ArgumentTypeError(f"{value!r} is not a size such as 500MB or 1.5GB")
    return round(float(found[1]) * _SIZES[found[2].upper()])


def show_age(age: timedelta) -> str:
    """In days, or in the largest smaller unit of which there is a whole one."""
    unit = next((unit for unit in "dhms" if age >= UNITS[unit]), "s")
    return f"{max(0, age // UNITS[unit])}{unit}"


def show_size(count: int) -> str:
    """In the largest unit of which there is a whole one, rounded down."""
    unit = next((unit for unit, size in _SIZES.items() if count >= size), "B")
    return f"{count} B" if unit == "B" else f"{count * 10 // _SIZES[unit] / 10:.1f} {unit}"


ARGUMENTS = (
    opt.group(
        "what stays (at least one; runs that pass all of them stay)",
        opt.argument(
            "--older-than",
            type=parse_age,
            metavar="AGE",
            help="runs up to this age, such as 90d, 12h, 30m",
        ),
        opt.argument(
            "--keep", type=opt.whole_number(0, 10**9 - 1), metavar="N", help="the N newest runs"
        ),
        opt.argument(
            "--max-size",
            type=parse_size,
            metavar="SIZE",
            help="the newest, up to 500MB or 1GB together",
        ),
    ),
    opt.argument("--to", metavar="STORE", help="move the runs to this store instead"),
    opt.argument("--yes", action="store_true", help="do it; otherwise nothing is changed"),
    opt.JSON,
)


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Show what would be forgotten, or forget it; 1 when a run could not be."""
    policy = Policy(max_age=options.older_than, max_runs=options.keep, max_bytes=options.max_size)
    if policy == Policy():
        raise ConfigurationError(
            "nothing says which runs to forget", "give --older-than, --keep or --max-size"
        )
    if options.to == settings.store:
        raise ConfigurationError("--to is the store that the runs are in", "name another one")
    now = datetime.now(UTC)
    planned, outcome = anyio.run(partial(_work, settings, policy, options.to, now, do=options.yes))
    if options.json:
        print_json(_report(planned, outcome, options.to))
    else:
        print_lines(_lines(planned, outcome, options.to, now))
    return 1 if _failed(outcome) else 0


async def _work(
    settings: Settings, policy: Policy, to: str | None, now: datetime, *, do: bool
) -> tuple[RetentionPlan, Outcome | None]:
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(opt.opened(settings))
        archive = settings.model_copy(update={"store": to}).open_store() if to else None
        if archive:
            stack.push_async_callback(archive.aclose)
        planned = await plan(store, policy, now)
        if archive and do:
            await _check_archive(archive)
        return planned, await carry_out(store, planned, archive) if do else None


async def _check_archive(archive: ThoughtStore) -> None:
    """Refuse one that only keeps runs for a server that is away."""
    await opt.check_store(archive)
    for part in await archive.health():
        if not part.works:
            raise StorageError(f"--to {part.part} does not work: {part.found}", "mend it first")


def _report(
    planned: RetentionPlan, outcome: Outcome | None, to: str | None
) -> Mapping[str, object]:
    errors = {failure.leaving.run.run_id: failure.error for failure in _failed(outcome)}
    return {
        "done": outcome is not None,
        "to": _shown(to) if to else None,
        "runs": [
            {
                **leaving.run.model_dump(mode="json"),
                "bytes": leaving.bytes,
                "reason": leaving.reason,
                "error": errors.get(leaving.run.run_id),
            }
            for leaving in planned.leaving
        ],
        "bytes": (outcome or planned).bytes,
        "kept_runs": planned.kept_runs + len(errors),
        "kept_bytes": planned.kept_bytes + sum(f.leaving.bytes for f in _failed(outcome)),
    }


def _lines(
    planned: RetentionPlan, outcome: Outcome | None, to: str | None, now: datetime
) -> Iterator[str]:
    failed = _failed(outcome)
    leaving = outcome.gone if outcome else planned.leaving
    for line in leaving:
        age = show_age(now - line.run.updated_at)
        size = show_size(line.bytes)
        yield f"{line.run.run_id}  {age:>4}  {size:>8}  {line.reason:<17}  {line.run.excerpt}"
    for failure in failed:
        yield f"{failure.leaving.run.run_id}  stays: {failure.error}"
    verb = f"moved to {_shown(to)!r}" if to else "forgotten"
    state = verb if outcome else f"would be {verb}"
    kept = planned.kept_bytes + sum(failure.leaving.bytes for failure in failed)
    yield (
        f"{state}: {_count(len(leaving))}, {show_size((outcome or planned).bytes)}"
        f" — what stays: {_count(planned.kept_runs + len(failed))}, {show_size(kept)}"
    )
    if leaving and not outcome:
        yield "nothing was changed: add --yes to do it"


def _failed(outcome: Outcome | None) -> Sequence[RetentionFailure]:
    return outcome.failed if outcome else ()


def _shown(url: str) -> str:
    """A URL without what may be a password or a key: in it, behind it, or among a command's."""
    plain = re.sub(r"\?[^,\s]*", "", re.sub(r"//[^,\s]*@", "//***@", url))
    return re.sub(r"(\+mcp:\S+)\s[^,]*", r"\1 …", plain)


def _count(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"
