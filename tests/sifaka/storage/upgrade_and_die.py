"""A process that is killed while it upgrades a file, after so many statements of the upgrade."""

import os
import signal
import sys
from typing import cast

import apsw

from sifaka.storage.sqlite.connection import SqlConnection
from sifaka.storage.sqlite.schema import RUNS


def upgrade(path: str, statements: int) -> None:
    connection = apsw.Connection(path)
    left = statements

    def count(*_: object) -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    connection.exec_trace = count
    RUNS.migrate(cast("SqlConnection", connection))


upgrade(sys.argv[1], int(sys.argv[2]))
