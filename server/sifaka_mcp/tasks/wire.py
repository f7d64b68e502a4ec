"""Runs in the words of the tasks extension."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from sifaka.models import CALLER
from sifaka.record.run import Run
from sifaka.storage.protocol import ThoughtStore
from sifaka_mcp.tools.answer import answer_with_text

POLL_INTERVAL = 1000
"""Milliseconds between two looks at a task."""

TaskStatus = Literal["working", "completed", "cancelled"]
"""Of the extension's words those that a run can come to: `failed` is for errors of the protocol,
and a run that failed has a result which says so; nothing is ever asked of the client."""


class TaskOut(BaseModel):
    """A run as a task."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    task_id: str
    status: TaskStatus
    status_message: str
    created_at: datetime
    last_updated_at: datetime
    ttl_ms: int | None = None
    """Milliseconds it is kept; None for as long as the store keeps the run."""
    poll_interval_ms: int = POLL_INTERVAL

    @classmethod
    def of(cls, run: Run) -> "TaskOut":
        """The task that a run is."""
        return cls(
            task_id=run.run_id,
            status=status_of(run),
            status_message=run.stop_reason or f"iteration {run.iterations}: {run.reached}",
            created_at=run.created_at,
            last_updated_at=run.updated_at,
        )

    def on_the_wire(self) -> dict[str, Any]:
        """Its fields, those included that are null."""
        return self.model_dump(mode="json", by_alias=True)


def status_of(run: Run) -> TaskStatus:
    """The status of a run's task.

    A task is completed for good when its run first waits for a revision: a task never goes back to
    work, and its result names the state of the run.
    """
    if any(thought.author == CALLER for thought in run.thoughts):
        return "completed"
    match run.status:
        case "running":
            return "working"
        case "cancelled":
            return "cancelled"
        case _:
            return "completed"


async def created_task(store: ThoughtStore, run_id: str) -> dict[str, Any]:
    """The answer to a request that has become a task."""
    run = await store.load(run_id)
    return {"resultType": "task", **TaskOut.of(run).on_the_wire()}


async def detailed_task(store: ThoughtStore, run_id: str) -> dict[str, Any]:
    """A task with its result if it has one.

    Raises:
        ThoughtNotFound: There is no such run.
        StorageError: The store failed.
    """
    run = await store.load(run_id)
    task = TaskOut.of(run)
    if task.status != "completed":
        return task.on_the_wire()
    from sifaka.chain import RunResult

    result = RunResult(run=run, warnings=store.degraded)
    told = await answer_with_text(result)
    return {
        **task.on_the_wire(),
        "result": told.model_dump(mode="json", by_alias=True, exclude_none=True),
    }
