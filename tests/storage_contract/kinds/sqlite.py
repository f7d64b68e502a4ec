from pathlib import Path
from typing import cast

import apsw

from sifaka.storage.sqlite import SQLiteStorage
from sifaka.storage.sqlite.connection import Connection


def make(folder: Path) -> SQLiteStorage:
    return SQLiteStorage(folder / "runs.db")


async def damage(store: SQLiteStorage, run_id: str) -> None:
    connection = apsw.Connection(str(store.path))
    cast("Connection", connection).execute(
        "UPDATE entries SET payload = 'no JSON' WHERE run_id = ? AND seq = 2", (run_id,)
    )
    connection.close()
