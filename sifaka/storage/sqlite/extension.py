"""The extension sqlite-vec: whether it is there, and loading it."""

import importlib.util

from sifaka.errors import ConfigurationError
from sifaka.storage.sqlite.connection import Connection


def check_package() -> None:
    """See that the extension is installed.

    Raises:
        ConfigurationError: It is not.
    """
    if importlib.util.find_spec("sqlite_vec") is None:
        raise ConfigurationError(
            "vectors in a SQLite file need the package sqlite-vec",
            "pip install 'sifaka-mcp[embeddings]'",
        )


def load_extension(connection: Connection) -> None:
    """Teach a connection `vec0` tables, if it does not know them yet.

    Raises:
        ConfigurationError: The extension is not installed.
    """
    loaded = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'vec0'").fetchone()
    if loaded:
        return
    check_package()
    import sqlite_vec  # pyright: ignore[reportMissingTypeStubs]

    connection.enable_load_extension(True)
    try:
        connection.load_extension(sqlite_vec.loadable_path())
    finally:
        # Otherwise SQL could load any library.
        connection.enable_load_extension(False)
