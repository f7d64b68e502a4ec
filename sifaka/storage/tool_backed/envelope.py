"""Stored values that survive the tools and cannot be mistaken for one of their sentences.

The servers answer `Key x does not exist` where a value would be, read values that look like JSON
as JSON, and print rows as Python would. A value in an envelope is plain ASCII with our prefix.
"""

import base64
import zlib

from sifaka.errors import StorageError

_PREFIX = "sifaka1:"


def pack(text: str) -> str:
    """A text as a stored value: compressed, in base64, with the prefix."""
    return _PREFIX + base64.b64encode(zlib.compress(text.encode())).decode()


def unpack(value: str) -> str:
    """The text of a stored value.

    Raises:
        StorageError: It is not a value that `pack` made.
    """
    try:
        if not value.startswith(_PREFIX):
            raise ValueError("no envelope")
        packed = base64.b64decode(value.removeprefix(_PREFIX), validate=True)
        return zlib.decompress(packed).decode()
    except (ValueError, zlib.error) as error:
        raise StorageError(
            f"a stored value that begins with {value[:20]!r} cannot be read",
            "it is damaged, or was written by something else; other runs are not affected",
        ) from error
