"""`sifaka forget`: delete or move old runs; without `--yes` it only says which."""

import argparse
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from sifaka._internal.durations import UNITS, parse_duration
from sifaka.errors import ConfigurationError, StorageError
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.retention import (
    Outcome,
    Policy,
    RetentionPlan,
    carry_out,
    plan,
)
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import lines
from sifaka_mcp.cli.session import Ending, Session, check_store


def parse_age(value: str) -> timedelta:
    """The type of an option that takes an age.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    age = parse_duration(value)
    if age is None:
        raise argparse.ArgumentTypeError(f"{value!r} is not an age such as 90d, 12h or 30m")
    return age


def show_age(age: timedelta) -> str:
    """In days, or in the largest smaller unit of which there is a whole one."""
    unit = next((unit for unit in "dhms" if age >= UNITS[unit]), "s")
    return f"{max(0, age // UNITS[unit])}{unit}"


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
    ),
    opt.argument("--to", metavar="STORE", help="move the runs to this store instead"),
    opt.argument("--yes", action="store_true", help="do it; otherwise nothing is changed"),
    opt.JSON,
)


async def run(session: Session) -> Ending:
    """Show what would be forgotten, or forget it; 1 when a run could not be."""
    options, settings, now = session.options, session.settings, datetime.now(UTC)
    policy = Policy(max_age=options.older_than, max_runs=options.keep)
    if policy == Policy():
        raise ConfigurationError("nothing says which runs to forget", "give --older-than or --keep")
    if options.to == settings.store:
        raise ConfigurationError("--to is the store that the runs are in", "name another one")
    store = await session.store()
    archive = None
    if options.to:
        archive = await session.open(settings.model_copy(update={"store": options.to}))
    planned = await plan(store, policy, now)
    if archive and options.yes:
        await _check_archive(archive)
    # What is only planned has gone nowhere, and nothing has failed.
    outcome = Outcome(gone=planned.leaving, failed=())
    if options.yes:
        outcome = await carry_out(store, planned, archive)
    return session.answer(
        _report(planned, outcome, options),
        lines(_lines(planned, outcome, options, now)),
        1 if outcome.failed else 0,
    )


async def _check_archive(archive: ThoughtStore) -> None:
    """Refuse one that only keeps runs for a server that is away."""
    await check_store(archive)
    for part in await archive.health():
        if not part.works:
            raise StorageError(f"--to {part.part} does not work: {part.found}", "mend it first")


def _report(
    planned: RetentionPlan, outcome: Outcome, options: argparse.Namespace
) -> Mapping[str, object]:
    errors = {failure.leaving.run.run_id: failure.error for failure in outcome.failed}
    return {
        "done": options.yes,
        "to": _shown(options.to) if options.to else None,
        "runs": [
            {
                **leaving.run.model_dump(mode="json"),
                "reason": leaving.reason,
                "error": errors.get(leaving.run.run_id),
            }
            for leaving in planned.leaving
        ],
        "kept_runs": planned.kept_runs + len(errors),
    }


def _lines(
    planned: RetentionPlan, outcome: Outcome, options: argparse.Namespace, now: datetime
) -> Iterator[str]:
    for line in outcome.gone:
        age = show_age(now - line.run.updated_at)
        yield f"{line.run.run_id}  {age:>4}  {line.reason:<17}  {line.run.excerpt}"
    for failure in outcome.failed:
        yield f"{failure.leaving.run.run_id}  stays: {failure.error}"
    verb = f"moved to {_shown(options.to)!r}" if options.to else "forgotten"
    yield (
        f"{verb if options.yes else f'would be {verb}'}: "
        f"{_count(len(outcome.gone))}"
        f" — what stays: {_count(planned.kept_runs + len(outcome.failed))}"
    )
    if outcome.gone and not options.yes:
        yield "nothing was changed: add --yes to do it"


def _shown(url: str) -> str:
    """A URL without what may be a password or a key: in it, behind it, or among a command's."""
    plain = re.sub(r"\?[^,\s]*", "", re.sub(r"//[^,\s]*@", "//***@", url))
    return re.sub(r"(\+mcp:\S+)\s[^,]*", r"\1 …", plain)


def _count(runs: int) -> str:
    return "1 run" if runs == 1 else f"{runs} runs"
