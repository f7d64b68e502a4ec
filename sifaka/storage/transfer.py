"""Copying a run from one log to another, entry for entry."""

from sifaka.errors import StorageError
from sifaka.record.run import Run
from sifaka.storage.log import RunLog, load_if_there, read_entries


async def copy_run(source: RunLog, target: RunLog, run_id: str) -> Run:
    """Bring a store up to what another holds of a run; what it has already is not copied again.

    Claims are not copied: an earlier number is not refused by the target.

    Returns:
        The run, as both stores hold it now.

    Raises:
        ThoughtNotFound: The source has no such run.
        StorageError: A store failed, or the target holds something else under this id.
    """
    run = await source.load(run_id)
    held = await load_if_there(target, run_id)
    if held == run:
        return run
    run, entries = await read_entries(source, run_id, run.version)
    version = held.version if held else 0
    if held and (version > run.version or Run.replay(entries[:version]) != held):
        raise StorageError(
            f"there is another run {run_id!r} where it was to be copied to",
            "name another store, or delete it there",
        )
    await target.append(run, entries[version:], expected_version=version)
    if await load_if_there(target, run_id) != run:
        raise StorageError(
            f"the copy of run {run_id!r} is not like the original", "check the store it is in"
        )
    return run
