"""The protocol of adapters, and those of a program, chosen by their names, with their keys."""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, Self, runtime_checkable

from sifaka.calls.context import fan_out
from sifaka.errors import ConfigurationError
from sifaka.evidence.documents import SearchFilters, SourceDocument
from sifaka.retrievers.cached import MemoryCache
from sifaka.storage.protocol import Health


class Adapter(Protocol):
    """Searches one place."""

    @property
    def name(self) -> str:
        """Its name in arguments, results and errors."""
        ...

    @property
    def place(self) -> str:
        """The place it searches, for people, and to tell two sources apart; without secrets."""
        ...

    async def search(
        self, query: str, *, limit: int, filters: SearchFilters
    ) -> Sequence[SourceDocument]:
        """At most `limit` documents, best first, with this adapter's name.

        Filters may be applied as far as the source can: the search applies them to what comes back.

        Raises:
            SifakaError: The source cannot be reached, refuses or answers nonsense; one line says
                which and what to do.
        """
        ...

    async def health(self) -> Health:
        """Look if the source answers, within some seconds; what fails is reported, not raised."""
        ...

    async def aclose(self) -> None:
        """Release connections; the adapter is not used afterwards."""
        ...


NO_ADAPTER = "no adapter is configured, so there is nothing to search"


@runtime_checkable
class LeavesOut(Protocol):
    """An adapter that has documents which it cannot search."""

    @property
    def left_out(self) -> Mapping[str, str]:
        """The reasons that documents are left out, by their names, as of the last search."""
        ...


class Adapters:
    """The places a program may search, each under a name of its own.

    Args:
        adapters: Any number; none means that nothing is searched.

    Raises:
        ConfigurationError: Two have the same name.
    """

    def __init__(self, adapters: Iterable[Adapter] = ()) -> None:
        self._adapters: dict[str, Adapter] = {}
        self.verdicts = MemoryCache()
        """Verdicts on claims that were checked against these sources; see `EvidenceChecker`."""
        for adapter in adapters:
            if self._adapters.setdefault(adapter.name, adapter) is not adapter:
                raise ConfigurationError(
                    f"two adapters are named {adapter.name!r}", "name them differently"
                )

    def __bool__(self) -> bool:
        return bool(self._adapters)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in their order."""
        return tuple(self._adapters)

    def chosen(self, names: Sequence[str] = ()) -> tuple[Adapter, ...]:
        """The adapters of these names, or all of them.

        Raises:
            ConfigurationError: There is none at all, or none of a name.
        """
        if not self._adapters:
            raise ConfigurationError(
                NO_ADAPTER,
                "set SIFAKA_ADAPTERS, such as "
                "wikipedia=mediawiki+https://en.wikipedia.org/w/api.php",
            )
        for name in names:
            if name not in self._adapters:
                raise ConfigurationError(
                    f"unknown adapter {name!r}", f"configured: {', '.join(self._adapters)}"
                )
        return tuple(self._adapters[name] for name in dict.fromkeys(names or self._adapters))

    async def health(self) -> dict[str, Health]:
        """The health of each adapter, by its name; all are asked at the same time."""
        looks = {name: adapter.health for name, adapter in self._adapters.items()}
        return dict(zip(looks, await fan_out(looks, calls_each=0), strict=True))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Release the connections of all adapters."""
        for adapter in self._adapters.values():
            await adapter.aclose()


NONE = Adapters()


Scheme = Literal["ApiKey", "Bearer"]
_WITH_SCHEME = re.compile(r"(ApiKey|Bearer|Basic) +(\S+)", re.IGNORECASE)
_TOKEN = re.compile(r"[\x21-\x7e]+")


def authorization(secret: str, *, bare: Scheme = "Bearer") -> str:
    """The value of the header `Authorization`.

    Args:
        secret: `user:password`, a value with its scheme such as `ApiKey ...` or `Bearer ...`, or a
            bare token.
        bare: The scheme of a bare token, as the kind of source has it.

    Raises:
        ConfigurationError: It cannot be sent; nothing of it is in the message.
    """
    value = secret.strip()
    if (named := _WITH_SCHEME.fullmatch(value)) and _TOKEN.fullmatch(named[2]):
        return f"{named[1]} {named[2]}"
    if ":" in value and value.isprintable():
        return f"Basic {base64.b64encode(value.encode()).decode()}"
    if _TOKEN.fullmatch(value) and value.casefold() not in {"apikey", "bearer", "basic"}:
        return f"{bare} {value}"
    raise ConfigurationError(
        "the key is neither user:password, nor `ApiKey ...`, nor `Bearer ...`, nor a token",
        "a token has no spaces and no characters outside ASCII",
    )


def secrets_of(keys: str) -> tuple[str, ...]:
    """Whatever must not be shown of a list such as `name=user:password,other=Bearer token`."""
    return tuple(
        part
        for _, secret in named_keys(keys)
        for part in (secret, secret.rpartition(" ")[2], secret.partition(":")[2])
        if part
    )


def named_keys(keys: str) -> tuple[tuple[str, str], ...]:
    """The names of a list such as `name=secret,other=secret`, each with its secret.

    A comma in a secret is written `%2C`. What has no `=` is a secret without a name.
    """
    parts = (part.strip().partition("=") for part in keys.split(",") if part.strip())
    return tuple(
        (
            name.strip() if equals else "",
            re.sub("%2c", ",", (secret if equals else name).strip(), flags=re.IGNORECASE),
        )
        for name, equals, secret in parts
    )
