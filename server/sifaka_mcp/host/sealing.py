"""Seals what a client carries along between the rounds of a call."""

import os
import secrets
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from mcp.server.request_state import AESGCMRequestStateCodec, RequestStateSecurity

from sifaka.errors import StorageError
from sifaka_mcp.host.sampling import LIFETIME
from sifaka_mcp.settings import Settings

_FILE = "state.key"


def sealing(settings: Settings, lifetime: float = LIFETIME) -> RequestStateSecurity:
    """The keys of the settings, else one in a file of the home folder, made when first needed."""
    return RequestStateSecurity(codec=_Codec(settings), ttl=lifetime)


class _Codec:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def seal(self, payload: bytes) -> str:
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        return self._codec.unseal(token)

    @cached_property
    def _codec(self) -> AESGCMRequestStateCodec:
        keys = [key.get_secret_value() for key in self._settings.state_keys]
        return AESGCMRequestStateCodec(keys or [_key_at(self._settings.home / _FILE)])


def _key_at(path: Path) -> str:
    """The key in a file; the first process makes it."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In containers with one home folder, processes may have the same id.
        mine = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        mine.touch(mode=0o600, exist_ok=False)
        mine.write_text(secrets.token_hex(32), encoding="ascii")
        with suppress(FileExistsError):
            os.link(mine, path)  # all of it or nothing, with several processes at it
        mine.unlink()
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise StorageError(
            f"the key in {path} cannot be read or made: {error.strerror}",
            "check the folder and the rights on it, or set SIFAKA_STATE_KEYS",
        ) from error
