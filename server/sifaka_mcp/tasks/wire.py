"""Runs in the words of the tasks extension."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from sifaka.models import CALLER
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.tools.answer import answer_with_text

POLL_INTERVAL = 1000
"""Milliseconds between two looks at a task."""

TaskStatus = Literal["working", "completed", "cancelled"]
"""Of the extension's words those that a run can come to: `failed` is for errors of the protocol,
and a run that failed has a result which says so; nothing is ever asked of the client."""
_NOT_COMPLETED: Mapping[str, TaskStatus] = MappingProxyType(
    {"running": "working", "cancelled": "cancelled"}
)


def task_of(run: Run) -> dict[str, Any]:
    """The task that a run is; it is kept for as long as the store keeps the run."""
    told = run.summary().model_dump(mode="json")
    return {
        "taskId": run.run_id,
        "status": status_of(run),
        "statusMessage": run.stop_reason or f"iteration {run.iterations}: {run.reached}",
        "createdAt": told["created_at"],
        "lastUpdatedAt": told["updated_at"],
        "ttlMs": None,
        "pollIntervalMs": POLL_INTERVAL,
    }


def status_of(run: Run) -> TaskStatus:
    """The status of a run's task.

    A task is completed for good when its run first waits for a revision: a task never goes back to
    work, and its result names the state of the run.
    """
    if any(thought.author == CALLER for thought in run.thoughts):
        return "completed"
    return _NOT_COMPLETED.get(run.status, "completed")


async def detailed_task(store: ThoughtStore, run_id: str) -> dict[str, Any]:
    """A task with its result if it has one.

    Raises:
        ThoughtNotFound: There is no such run.
        StorageError: The store failed.
    """
    run = await store.load(run_id)
    task = task_of(run)
    if task["status"] != "completed":
        return task
    from sifaka.chain import RunResult

    result = RunResult(run=run, warnings=store.degraded)
    told = await answer_with_text(result)
    return {
        **task,
        "result": told.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
