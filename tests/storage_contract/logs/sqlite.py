from pathlib import Path
from typing import cast

import apsw

from sifaka.storage.sqlite import SQLiteLog
from sifaka.storage.sqlite.connection import SqlConnection


def make(folder: Path) -> SQLiteLog:
    return SQLiteLog(folder / "runs.db")


async def damage(log: SQLiteLog, run_id: str) -> None:
    connection = apsw.Connection(str(log.path))
    cast("SqlConnection", connection).execute(
        "UPDATE entries SET payload = 'no JSON' WHERE run_id = ? AND seq = 2", (run_id,)
    )
    connection.close()
