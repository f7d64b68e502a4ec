"""Any id as the name of a file that is safe, and its own, on every file system."""

from hashlib import sha256

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)
"""The devices of Windows, whatever extension a name has."""
_LONGEST = 120
_SHOWN = 40


def file_name(identifier: str) -> str:
    """The id, percent-encoded but for small letters, digits, `_` and `-`.

    No two ids share a name, not even where capitals do not count, and none is `.`, `..` or hidden.
    Of a long id the name has the beginning and a SHA-256.
    """
    octets = identifier.encode("utf-8", "surrogatepass")
    name = "".join(chr(octet) if octet in _PLAIN else f"%{octet:02x}" for octet in octets)
    if name in _DEVICES:
        return f"%{octets[0]:02x}{name[1:]}"
    if len(name) > _LONGEST:
        # `%-` is in no other name: elsewhere two hexadecimal digits follow a `%`.
        return f"{name[:_SHOWN]}%-{sha256(octets).hexdigest()}"
    return name or "%"
