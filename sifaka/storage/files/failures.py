"""Errors of the file system as `StorageError`, each with a suggestion."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from sifaka.errors import StorageError

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
_FULL = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


@contextmanager
def failures(folder: Path) -> Generator[None]:
    """Within it, an `OSError` becomes a `StorageError` that names the store's folder."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            what, advice = "does not fit on the disk any more", "free some space and try again"
        elif error.errno in _NO_LOCKS:
            what = f"cannot be locked: {error.strerror}"
            advice = "name a folder on a file system that has locks"
        else:
            what = f"cannot be used: {error.strerror or error}"
            advice = "name a folder that you may read and write"
        raise StorageError(f"the store {str(folder)!r} {what}", advice) from error
