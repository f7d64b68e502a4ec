"""What a killed process has left behind, read without touching it."""

import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sifaka.record.run import Run
from sifaka.storage.entry_json import replay_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The one run of a folder, as its file holds it, and what the provider was asked so far."""

    payloads: tuple[str, ...]
    """The entries, byte for byte; none before the first append."""
    run: Run | None
    asked: Counter[str]
    """How often each question was asked, by its digest."""

    @property
    def called(self) -> Counter[str]:
        """How many answers to each question are on record."""
        return Counter(call.request for call in self.run.calls) if self.run else Counter()


def read(folder: Path) -> Record:
    """The record of a folder.

    A copy is opened, because whoever opens the file first mends it after a kill: that is the
    resumed process's task.
    """
    log = folder / "asked.log"
    asked = Counter(log.read_text(encoding="ascii").split() if log.exists() else ())
    with tempfile.TemporaryDirectory(dir=folder) as name:
        copy = Path(name) / "runs.db"
        for suffix in ("", "-wal"):
            if (source := folder / f"runs.db{suffix}").exists():
                shutil.copyfile(source, f"{copy}{suffix}")
        rows = _rows(copy) if copy.exists() else []
    payloads = tuple(payload for _, payload in rows)
    run = replay_run(rows[0][0], (p.encode() for p in payloads)) if rows else None
    return Record(payloads=payloads, run=run, asked=asked)


def _rows(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        (damage,) = connection.execute("PRAGMA integrity_check").fetchone()
        assert damage == "ok", f"the file is damaged: {damage}"
        tables = connection.execute("SELECT name FROM sqlite_schema").fetchall()
        if ("entries",) not in tables:
            return []
        return connection.execute("SELECT run_id, payload FROM entries ORDER BY seq").fetchall()


def outcome(run: Run) -> dict[str, object]:
    """What must be the same however often the run was killed: texts, opinions, decisions, end."""
    return {
        "status": (run.status, run.stop_reason, run.error),
        "champion": run.champion.iteration if run.champion else None,
        "texts": [(t.iteration, t.text, t.model_prompt) for t in run.thoughts],
        "decisions": [
            (t.iteration, d.accepted, d.reason)
            for t in run.thoughts
            if (d := run.decisions.get(t.id)) is not None
        ],
        "feedback": [
            f.model_dump_json(exclude={"usage"}) for t in run.thoughts for f in t.critic_feedback
        ],
        "ending": run.ending.decision if run.ending else None,
    }
