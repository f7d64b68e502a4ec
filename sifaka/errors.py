"""The one error tree of Sifaka.

    SifakaError
    ├── ConfigurationError      a setting, spec or argument is wrong; nothing was started
    ├── ModelProviderError      a model call failed for good (provider, error_code, retry_after)
    ├── CriticError             a critic could not give an opinion
    ├── ValidationError         a validator could not be run
    ├── StorageError            the store failed
    │   └── AppendRefused       another process works on the run
    │       ├── VersionConflict they wrote to it first
    │       └── Fenced          they have claimed it
    ├── SourceError             a source of evidence could not be searched (adapter, error_code)
    ├── PluginError             a third-party component could not be loaded
    ├── OperationTimeout        an operation outlived its deadline
    ├── MemoryLimitError        the context or the machine's memory is exhausted
    ├── EmbeddingError          an embedding could not be made
    ├── ThoughtNotFound         no run or thought of that id is visible to the caller
    ├── StaleRevision           a revision was written against a version that has been replaced
    └── BudgetExceeded          the next call would break the run's budget

Every error carries what a program needs as attributes and what a person should do as `suggestion`.
What it says goes to clients, into logs and into records: secrets in it are masked from the start.
"""

import re

from sifaka._internal.masking import masked

_LONGEST = 4_000
"""Characters of a message: what it quotes may have been made to be long."""
_LOOKED_AT = 5 * _LONGEST
"""Characters of it that are looked at, so that none of a secret is left that was cut in two."""


class SifakaError(Exception):
    """Base of everything Sifaka raises on purpose.

    Args:
        message: The failure, in one line; of a very long one the beginning is kept.
        suggestion: The remedy, in one line; likewise.
        retryable: True when the same call may succeed later without any change; the class's own
            value when None.
        error_code: One word for the failure, where there are several of a class.
        retry_after: Seconds that were asked for before the next try.
    """

    retryable: bool = False
    """True when the same call may succeed later without any change."""

    def __init__(
        self,
        message: str,
        suggestion: str | None = None,
        *,
        retryable: bool | None = None,
        error_code: str = "",
        retry_after: float | None = None,
    ) -> None:
        self.message = _shorten_message(message)
        self.suggestion = None if suggestion is None else _shorten_message(suggestion)
        self.error_code = error_code
        self.retry_after = retry_after
        if retryable is not None:
            self.retryable = retryable
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} — {self.suggestion}" if self.suggestion else self.message


class ConfigurationError(SifakaError):
    """A setting, a spec or an argument is wrong. Nothing was started.

    Args:
        message: The failure.
        suggestion: The remedy; by default the valid range.
        parameter: The name of what is wrong, where it has one.
        valid_range: What is allowed, in words.
    """

    def __init__(
        self,
        message: str,
        suggestion: str | None = None,
        *,
        parameter: str | None = None,
        valid_range: str | None = None,
    ) -> None:
        super().__init__(message, suggestion or (valid_range and f"allowed: {valid_range}"))
        self.parameter = parameter
        self.valid_range = valid_range


class ModelProviderError(SifakaError):
    """A call to a model provider failed.

    Args:
        message: The failure.
        suggestion: The remedy.
        provider: The provider's name as in the model string, such as `openai`.
        error_code: One word of `authentication`, `rate_limit`, `quota`, `timeout`, `connection`,
            `server`, `circuit_open`, `not_found`, `context_window`, `output_limit`,
            `content_filter`, `unfinished`, `rejected`, `malformed`, `unfit`, `empty`, `broken`,
            `request_limit`, `unknown`, of a host `refused` or `unavailable`, in a replay
            `not_recorded`.
        retry_after: Seconds the provider asked to wait, where it said so, or until its circuit
            breaker lets a call through.
    """

    TRANSIENT = frozenset({"rate_limit", "timeout", "connection", "server", "circuit_open"})

    def __init__(
        self,
        message: str,
        suggestion: str | None = None,
        *,
        provider: str | None = None,
        error_code: str = "unknown",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(
            message,
            suggestion,
            retryable=error_code in self.TRANSIENT,
            error_code=error_code,
            retry_after=retry_after,
        )
        self.provider = provider


class CriticError(SifakaError):
    """A critic could not give an opinion; it abstains.

    Its code is that of the provider's error behind it, if all there is comes from one.
    """


class ValidationError(SifakaError):
    """A validator could not be run; its check counts as failed."""


class StorageError(SifakaError):
    """The store could not read or write."""


class AppendRefused(StorageError):
    """The store works, and refuses an append because another process works on the run."""


class VersionConflict(AppendRefused):
    """An append expected another version of the run than the store holds."""

    def __init__(self, run_id: str, *, expected: int, found: int) -> None:
        super().__init__(
            f"run {run_id!r} is at version {found}, not {expected}", "load the run again and retry"
        )
        self.run_id = run_id
        self.expected = expected
        self.found = found


class Fenced(AppendRefused):
    """An append came from a process from which the run has been taken over."""

    def __init__(self, run_id: str, *, fence: int, current: int) -> None:
        super().__init__(
            f"run {run_id!r} was taken over: claim {current} has replaced {fence}",
            "wait for who works on it now, or cancel it with cancel_run",
        )
        self.run_id = run_id
        self.fence = fence
        self.current = current


class SourceError(SifakaError):
    """A source of evidence could not be searched.

    Args:
        message: The failure.
        suggestion: The remedy.
        adapter: The name of the adapter.
        error_code: One word of `timeout`, `connection`, `server`, `rate_limit`, `circuit_open`,
            `authentication`, `not_found`, `rejected`, `malformed`, `too_large`, `forbidden`.
        retry_after: Seconds the source asked to wait, where it said so.
    """

    TRANSIENT = frozenset({"timeout", "connection", "server", "rate_limit", "circuit_open"})

    def __init__(
        self,
        message: str,
        suggestion: str | None = None,
        *,
        adapter: str = "",
        error_code: str = "connection",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(
            message,
            suggestion,
            retryable=error_code in self.TRANSIENT,
            error_code=error_code,
            retry_after=retry_after,
        )
        self.adapter = adapter


class PluginError(SifakaError):
    """A third-party component could not be loaded."""


class OperationTimeout(SifakaError):
    """An operation outlived its deadline."""

    retryable = True


class MemoryLimitError(SifakaError):
    """The context or the machine's memory is exhausted."""


class EmbeddingError(SifakaError):
    """An embedding could not be made."""


class ThoughtNotFound(SifakaError):
    """No run or thought of this id is visible to the caller."""

    def __init__(self, thought_id: str) -> None:
        super().__init__(
            f"no run or thought {_shorten_id(thought_id)!r}",
            "the history lists the runs",
        )
        self.thought_id = thought_id


class StaleRevision(SifakaError):
    """A revision was written against a version that is no longer the one to improve."""

    def __init__(self, parent_id: str, *, current_id: str) -> None:
        super().__init__(
            f"parent {_shorten_id(parent_id)!r} is not the version to improve any more",
            f"revise {current_id!r}, the text of the latest brief, and name that as the parent",
        )
        self.parent_id = parent_id
        self.current_id = current_id


class BudgetExceeded(SifakaError):
    """The next call would break a budget.

    Args:
        limit: The limit: `calls`, `tokens`, `seconds` or `cost`.
        message: What has happened, where it is not the run's own budget that is spent.
        suggestion: What helps then.
    """

    def __init__(
        self, limit: str, message: str = "", suggestion: str = "raise the budget to go on"
    ) -> None:
        super().__init__(message or f"the run's budget of {limit} is spent", suggestion)
        self.limit = limit


def code_of(error: BaseException) -> str:
    """The code of an error, else its class as in `memory_limit_error`."""
    if isinstance(error, SifakaError) and error.error_code:
        return error.error_code
    return re.sub(
        r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(error).__name__
    ).lower()


def _shorten_message(message: str) -> str:
    safe = masked(message[:_LOOKED_AT])
    is_whole = len(message) <= _LOOKED_AT and len(safe) <= _LONGEST
    return safe if is_whole else f"{safe[:_LONGEST]}..."


def _shorten_id(identifier: str) -> str:
    return identifier if len(identifier) <= 60 else f"{identifier[:50]}..."
