from pathlib import Path
from typing import cast

import apsw

from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.sqlite.connection import SqlConnection


def make(folder: Path) -> SQLiteStorage:
    return SQLiteStorage(folder / "runs.db")


async def damage(log: SQLiteStorage, run_id: str) -> None:
    connection = apsw.Connection(str(log.path))
    cast("SqlConnection", connection).execute(
        "UPDATE entries SET payload = 'no JSON' WHERE run_id = ? AND seq = 2", (run_id,)
    )
    connection.close()
