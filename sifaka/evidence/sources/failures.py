"""What is said when a source cannot be asked."""

from dataclasses import dataclass

from sifaka.errors import SourceError

_HINTS = {
    "timeout": "try again later, or give the adapter more seconds",
    "connection": "check the URL of the adapter, and whether its server runs",
    "server": "try again later, or look into the log of its server",
    "rate_limit": "try again later, and search less often",
    "circuit_open": "try again later, or leave this adapter out",
    "authentication": "check the key of the adapter, and what it may read",
    "not_found": "check the path in the URL of the adapter",
    "rejected": "check the URL of the adapter, and whether its server has what the adapter needs",
    "malformed": "check that the URL of the adapter is that of its API",
    "too_large": "ask for less, or leave this adapter out",
    "forbidden": "set the URL of the adapter to where its server really is",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks, and where."""

    adapter: str
    """The name of the adapter."""
    url: str
    """What is asked, without secrets and parameters."""

    def failure(
        self, code: str, what: str, hint: str | None = None, *, retry_after: float | None = None
    ) -> SourceError:
        """An error in one line, with the usual advice for its code unless there is a better one.

        Args:
            code: One of those of `SourceError`.
            what: What happened, as what follows the URL in a sentence.
            hint: What to do about it.
            retry_after: Seconds the source asked to wait.
        """
        line = " ".join(f"{self.adapter}: {self.url} {what}".split())
        return SourceError(
            # Some of it are the source's own words.
            line if line.isprintable() else "".join(c for c in line if c.isprintable()),
            hint or _HINTS[code],
            adapter=self.adapter,
            code=code,
            retry_after=retry_after,
        )
