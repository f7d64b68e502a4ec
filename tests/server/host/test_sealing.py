"""The key that a server alone makes for itself."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mcp.server.request_state import RequestStateSecurity

from sifaka_mcp.host.sampling import sealing
from sifaka_mcp.settings import Settings


def seal(security: RequestStateSecurity) -> str:
    return security.codec.seal(b"state")


def test_all_who_share_a_home_seal_with_one_key_that_others_cannot_read(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    every = [sealing(settings) for _ in range(32)]
    with ThreadPoolExecutor(8) as threads:
        sealed = list(threads.map(seal, every))
    assert {sealing(settings).codec.unseal(each) for each in sealed} == {b"state"}
    (key,) = settings.home.iterdir()
    assert key.stat().st_mode & 0o077 == 0


def test_what_lies_there_already_is_not_written_to(tmp_path: Path) -> None:
    other = tmp_path / "precious"
    other.write_text("mine")
    home = tmp_path / "home"
    home.mkdir()
    (home / f"state.key.{os.getpid()}").symlink_to(other)
    sealing(Settings(home=home)).codec.seal(b"state")
    assert other.read_text() == "mine"
