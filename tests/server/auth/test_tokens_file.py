"""The tokens file of a server that runs: changes, mistakes, rights."""

import logging
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka_mcp.auth.tokens_file import Grant, TokensFile, add_grant, digest_of
from tests.stubs.served import grant_token


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens"


def test_a_token_stands_for_its_tenant_until_it_expires(file: Path) -> None:
    now = datetime.now(UTC)
    alice = grant_token(file, "alice")
    bob = grant_token(file, "bob", expires=now + timedelta(hours=1))
    over = grant_token(file, "carol", expires=now - timedelta(seconds=1))
    tokens = TokensFile(file)
    found = tokens.grant(alice), tokens.grant(bob)
    assert [grant and grant.tenant for grant in found] == ["alice", "bob"]
    assert tokens.grant(over) is None
    for wrong in ("", alice[:-1], alice + "x", alice.upper(), digest_of(alice).hex(), "\udc80"):
        assert tokens.grant(wrong) is None


def test_a_change_counts_at_once_and_without_a_restart(file: Path) -> None:
    alice = grant_token(file, "alice")
    tokens = TokensFile(file)
    bob = grant_token(file, "bob")
    assert tokens.grant(bob)
    lines = file.read_text().splitlines(keepends=True)
    file.write_text(lines[1])
    assert tokens.grant(alice) is None, "it was withdrawn"
    assert tokens.grant(bob)


def test_a_broken_file_keeps_the_last_good_one_in_force(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    alice = grant_token(file, "alice")
    tokens = TokensFile(file)
    whole = file.read_text()
    file.write_text(f"{whole}bob half-of-a-ha")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert tokens.grant(alice)
        file.unlink()
        for _ in range(3):
            assert tokens.grant(alice)
    messages = [record.getMessage() for record in caplog.records]
    assert [("line 2" in m, "cannot be read" in m) for m in messages] == [
        (True, False),
        (False, True),
    ]
    assert not any("half-of" in message for message in messages)
    file.write_text("")
    assert tokens.grant(alice) is None, "an empty file lets no token in"


def test_a_server_does_not_start_with_a_wrong_file(file: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        TokensFile(file)
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        TokensFile(file.parent)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="is not UTF-8"):
        TokensFile(file)


def test_a_file_that_everybody_may_write_is_not_trusted(file: Path) -> None:
    grant_token(file, "alice")
    file.chmod(0o666)
    with pytest.raises(ConfigurationError, match="can be written by every user"):
        TokensFile(file)
    file.chmod(0o640)
    TokensFile(file)


def test_a_new_file_is_for_its_owner_alone_and_lines_stay_apart(file: Path) -> None:
    add_grant(file, Grant(tenant="alice", digest=digest_of("a")))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(file.read_text().rstrip("\n"))
    add_grant(file, Grant(tenant="bob", digest=digest_of("b")))
    assert TokensFile(file).grant("a")
    assert TokensFile(file).grant("b")
    file.write_text("nonsense")
    with pytest.raises(ConfigurationError, match="line 1"):
        add_grant(file, Grant(tenant="carol", digest=digest_of("c")))
