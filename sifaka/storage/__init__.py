"""Stores: where runs are kept, and the catalogue that opens one by its URL."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from sifaka.errors import ConfigurationError
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.protocol import ThoughtStore
from sifaka.storage.sqlite import SQLiteStorage

FORMS = "memory: | sqlite: | sqlite:///relative/path.db | sqlite:////absolute/path.db"
"""Every URL form that `open_store` understands."""


def _memory(rest: str, home: Path, tenant: str) -> ThoughtStore | None:
    return MemoryStorage(tenant=tenant) if rest in {"", "//"} else None


def _sqlite(rest: str, home: Path, tenant: str) -> ThoughtStore | None:
    if not rest:
        return SQLiteStorage(home / "sifaka.db", tenant=tenant)
    path = rest.removeprefix("///")
    # An option, a home folder or a second store in the URL would end up in the name of a new file,
    # and nobody would find their runs again.
    if path == rest or not path or path.startswith("~") or re.search(r"\?|,[a-z+]+:", path):
        return None
    return SQLiteStorage(path, tenant=tenant)


SCHEMES: Mapping[str, Callable[[str, Path, str], ThoughtStore | None]] = MappingProxyType(
    {"memory": _memory, "sqlite": _sqlite}
)
"""How a store is made from what follows the scheme; None when that cannot be understood."""


def open_store(url: str, *, home: Path, tenant: str = "default") -> ThoughtStore:
    """The store that a URL names; files are touched on first use only.

    Whoever opens it closes it with `aclose`; what `scoped` makes of it is closed with it.

    Args:
        url: One of `FORMS`. A path is taken as it stands, without decoding; a relative one starts
            at the current directory.
        home: The folder of the default file, for `sqlite:`.
        tenant: Whose runs it shows.

    Raises:
        ConfigurationError: The URL has none of the forms.
    """
    scheme, colon, rest = url.partition(":")
    make = SCHEMES.get(scheme.lower()) if colon else None
    store = make(rest, home, tenant) if make else None
    if store is None:
        # A URL of another kind of store may carry a password.
        shown = re.sub(r"//[^/]*@", "//***@", url)
        raise ConfigurationError(f"no store can be opened by {shown!r}", f"allowed: {FORMS}")
    return store
