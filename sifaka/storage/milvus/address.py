"""The URL of a Milvus server or a Milvus Lite folder: checked, never shown with its token."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from sifaka.errors import ConfigurationError
from sifaka.storage.timestamps import parse_ttl

FORMS = (
    "milvus:///relative/path.db | milvus:////absolute/path.db | "
    "milvus+http://[user:password@ or :TOKEN@]host[:port][/database] | milvus+https://..., "
    "with ?ttl=7d and &prefix=sifaka if wanted"
)
"""Every form that is understood."""
DEFAULT_PREFIX = "sifaka"


@dataclass(frozen=True, slots=True, kw_only=True)
class MilvusAddress:
    """The server or the folder of an index."""

    shown: str
    """The URL for people to read, without token and options."""
    folder: Path | None = None
    """Of Milvus Lite; None for a server."""
    uri: str = ""
    """The address for the client; empty for a folder."""
    token: str = field(default="", repr=False)
    database: str = ""

    @property
    def place(self) -> str:
        """The same for every address of the same database."""
        return str(self.folder) if self.folder else f"{self.uri}/{self.database}"


def parse_address(url: str) -> MilvusAddress:
    """The address that a URL without options names.

    Raises:
        ConfigurationError: It cannot be understood. The message holds no token.
    """
    shown = re.sub(r"(?s)//.*@", "//***@", re.sub(r"(?s)[?#].*", "", url))
    wrong = ConfigurationError(f"{shown!r} is not the URL of a Milvus store", f"allowed: {FORMS}")
    scheme, _, rest = url.partition(":")
    if scheme.lower() == "milvus":
        path = rest.removeprefix("///")
        # What is left of an option or a home folder would end up in the name of a new folder.
        if path == rest or not path or path.startswith("~") or re.search(r"[?#]", path):
            raise wrong
        return MilvusAddress(shown=shown, folder=Path(path).absolute())
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 19530
    except ValueError:
        raise wrong from None
    database = re.fullmatch(r"/?|/(\w{1,255})/?", parts.path, re.ASCII)
    transport = parts.scheme.lower().removeprefix("milvus+")
    if transport not in {"http", "https"} or transport == parts.scheme.lower():
        raise wrong
    if not host or database is None or parts.query or parts.fragment:
        raise wrong
    name = f"{f'[{host}]' if ':' in host else host}:{port}"
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MilvusAddress(
        shown=f"milvus+{transport}://{name}{parts.path.rstrip('/')}",
        uri=f"{transport}://{name}",
        token=f"{user}:{password}" if user and password else user or password,
        database=database[1] or "",
    )


def split_options(url: str) -> tuple[str, str, float | None]:
    """The URL without its options, and these: the prefix and the seconds to live."""
    plain, _, query = url.partition("?")
    try:
        options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError:
        options = {query: ""}
    for option in options.keys() - {"ttl", "prefix"}:
        raise ConfigurationError(
            f"{parse_address(plain).shown!r} has the unknown option {option!r}",
            "allowed: ttl, prefix",
        )
    prefix = options.get("prefix", DEFAULT_PREFIX)
    return plain, prefix, parse_ttl(options["ttl"]) if "ttl" in options else None


def checked_prefix(prefix: str) -> str:
    """The same prefix.

    Raises:
        ConfigurationError: No collection's name can begin with it.
    """
    if not re.fullmatch(r"[A-Za-z_]\w{0,63}", prefix, re.ASCII):
        raise ConfigurationError(
            f"{prefix!r} is not a prefix for the names of collections",
            "allowed: a letter or _, then up to 63 letters, digits or _",
        )
    return prefix
