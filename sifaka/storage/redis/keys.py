"""The names of all keys. Those of one tenant share a hash tag, so a cluster keeps them together."""

import re
from dataclasses import dataclass
from urllib.parse import quote

_RESERVED = frozenset({"recent", "cursor"})
_UNRESERVED = re.compile(r"[\w.~-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Keys:
    """Names for one tenant's keys, all of which begin with `<prefix>:run:{<tenant>}:`."""

    prefix: str
    tenant: str

    @property
    def recent(self) -> str:
        """Sorted set: the ids of all runs by the microseconds of their last entry."""
        return self._named("recent")

    @property
    def cursor(self) -> str:
        """String: what the cursors of this tenant are sealed with."""
        return self._named("cursor")

    def run(self, run_id: str) -> str:
        """Hash: `version`, `fence`, `size` in bytes, `summary`, `tags`, `branch_of`."""
        return self._named(_quoted(run_id))

    def entries(self, run_id: str) -> str:
        """Stream: entry number n under the id `<n>-0`, its JSON in the field `e`."""
        return f"{self.run(run_id)}:it"

    def children(self, run_id: str) -> str:
        """Set: the ids of the runs that branched off this one."""
        return f"{self.run(run_id)}:children"

    def _named(self, name: str) -> str:
        return f"{self.prefix}:run:{{{_plain(self.tenant)}}}:{name}"


def _quoted(run_id: str) -> str:
    # Quoted, no id contains a colon or a brace: none is another key's name or another tenant's tag.
    if run_id in _RESERVED:
        return f"%{ord(run_id[0]):02X}{run_id[1:]}"
    return _plain(run_id)


def _plain(text: str) -> str:
    # Any Python string has a name of its own, also one that is not valid Unicode: what is unknown
    # is then simply not there.
    if _UNRESERVED.fullmatch(text):  # nearly always, and ten times as fast
        return text
    return quote(text, safe="", errors="surrogatepass")
