"""The entries of the queue: JSON that is checked, where docket would load a pickle.

docket pickles what a task is called with, and has no hook for another form. This module gives it
one: `RunDocket` reads no strikes, which are pickles too, and `QueuedTask` is what its worker makes
of a message in Redis. The version of docket is pinned, and a test looks at each place where that
loads a pickle.

An entry is `["tenant", "run", version]`, the version of the run when it was queued, and beside it
is the number of the attempt. Where servers share keys, both are signed.
"""

import hmac
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast

import docket.worker as engine
from docket import Docket, Execution
from docket.execution import Disposition
from docket.instrumentation import message_getter
from opentelemetry import propagate
from pydantic import TypeAdapter

from sifaka.calls.failure_log import report_failure
from sifaka.errors import StorageError
from sifaka_mcp.runs.service import RunKey

if TYPE_CHECKING:
    from docket.execution import Message, TaskFunction

logger = logging.getLogger(__name__)

TASK = "work_on_run"


_Arguments = TypeAdapter(tuple[str, str, int])


async def _do_nothing() -> None:
    """The task of a refused entry: it is acknowledged, and its run is free."""


class RunDocket(Docket):
    """A docket whose entries are JSON.

    Args:
        name: The prefix of its keys.
        url: The Redis server.
        keys: What entries may be signed with, and are with the first; they are not without any.
        count: Counts an entry that was refused.
    """

    def __init__(
        self, name: str, url: str, *, keys: Sequence[str], count: Callable[[], object]
    ) -> None:
        super().__init__(name=name, url=url)
        self.url = ""  # of the strikes, which are pickles: none are read without it
        self._keys, self._count = keys, count
        engine.Execution = QueuedTask  # pyright: ignore[reportPrivateImportUsage] - the seam

    async def put(
        self,
        key: RunKey,
        version: int,
        *,
        deaths: int = 0,
        seconds: float = 0,
        replace: bool = True,
    ) -> Disposition:
        """Schedule work on a run of so many entries, or more.

        Args:
            key: The run.
            version: How many entries it has.
            deaths: How many workers have died of it.
            seconds: Until it is due.
            replace: False to leave an entry of the run as it is.
        """
        function, due = self.tasks[TASK], datetime.now(UTC) + timedelta(seconds=seconds)
        entry = QueuedTask(self, function, (*key, version), {}, key.name, due, deaths + 1)
        return await entry.schedule(replace)

    def read(self, message: "Message", key: str) -> tuple[tuple[str, str, int], int]:
        """What a message asks for, and at which attempt.

        Raises:
            KeyError: It lacks something.
            ValueError: It is not an entry that a server has written.
        """
        body, attempt = message[b"args"], int(message[b"attempt"])
        tenant, run_id, version = _Arguments.validate_json(body, strict=True)
        signed = partial(hmac.compare_digest, message[b"kwargs"])
        if (message[b"function"].decode(), key) != (TASK, RunKey(tenant, run_id).name) or (
            self._keys and not any(map(signed, self.signatures(body, attempt)))
        ):
            raise ValueError("it is another task, or is not signed by a key that servers share")
        return (tenant, run_id, version), attempt

    def signatures(self, body: bytes, attempt: int) -> list[bytes]:
        """The right signatures of an entry, first the one to be written."""
        signed = b"\n".join((self.name.encode(), str(attempt).encode(), body))
        return [hmac.digest(key.encode(), signed, "sha256").hex().encode() for key in self._keys]

    def refuse(self) -> None:
        """Count and report an entry that is not worked on."""
        self._count()
        error = StorageError(
            "a foreign or altered entry was refused",
            "see who may write to its keys, and whether all servers have the same state keys",
        )
        report_failure(logger, "queue", error)


class QueuedTask(Execution):
    """A task of the queue."""

    def as_message(self) -> "Message":
        """The message that it is in Redis; see `Execution.as_message`."""
        body = _Arguments.dump_json(cast("tuple[str, str, int]", self.args))
        signatures = cast("RunDocket", self.docket).signatures(body, self.attempt)
        return {
            b"key": self.key.encode(),
            b"when": self.when.isoformat().encode(),
            b"function": TASK.encode(),
            b"args": body,
            b"kwargs": b"".join(signatures[:1]),
            b"attempt": str(self.attempt).encode(),
            b"generation": str(self.generation).encode(),
        }

    @classmethod
    async def from_message(
        cls,
        docket: Docket,
        message: "Message",
        redelivered: bool = False,
        fallback_task: "TaskFunction | None" = None,
        message_id: Any = None,
        sync: bool = True,
    ) -> Self:
        """The task that a message is; see `Execution.from_message`, which serves other dockets."""
        if not isinstance(docket, RunDocket):
            return cast(
                "Self",
                await Execution.from_message(
                    docket, message, redelivered, fallback_task, message_id, sync
                ),
            )
        number = message.get(b"generation", b"")[:9]
        generation = int(number) if number.isdigit() else 0
        # One without it must not end the task of that name, which is another entry.
        key = message.get(b"key", b"").decode(errors="replace") if generation else ""
        try:
            function, (args, attempt) = docket.tasks[TASK], docket.read(message, key)
            context = propagate.extract(message, getter=message_getter)
        except (KeyError, ValueError):
            docket.refuse()
            function, args, attempt, context = _do_nothing, (), 1, None
        return cls(
            docket,
            function,
            args,
            {},
            key,
            datetime.now(UTC),
            attempt,
            context,
            redelivered,
            TASK,
            generation,
            message_id,
        )
