"""The tokens file: its lines, changes, mistakes and rights, and what the MCP SDK hears of it."""

import logging
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka_mcp.auth.access import FileVerifier
from sifaka_mcp.auth.tokens_file import (
    Grant,
    TokensFile,
    add_grant,
    digest_of,
    new_token,
    parse_grants,
)
from tests.stubs.served import grant_token

pytestmark = pytest.mark.anyio


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


HASH = digest_of("a token").hex()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (HASH, "the second word should be a SHA-256"),
        (f"a/b {HASH}", "the tenant should be 1 to 64"),
        ("alice", "the second word should be a SHA-256"),
        ("alice sfk_put-here-by-mistake", "the second word should be a SHA-256"),
        (f"alice {HASH.upper()}", "the second word should be a SHA-256"),
        (f"alice {HASH} until=2030", "after the hash there may be"),
        (f"alice {HASH} scopes=sifaka:read scopes=sifaka:write", "after the hash there may be"),
        (f"alice {HASH} expires=soon", "expires should be a moment"),
        (f"alice {HASH} expires=2030-01-01", "expires should have a time zone"),
        (f"alice {HASH} scopes=", "the scopes should be of sifaka:read, sifaka:write"),
        (f"alice {HASH} scopes=admin", "the scopes should be of sifaka:read, sifaka:write"),
    ],
)
def test_a_wrong_line_is_told_by_its_number_and_never_repeated(line: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_grants(f"# people\n\n{line}\n", "tokens")
    told = str(caught.value)
    assert told.startswith(f"tokens, line 3: {said}")
    assert "\n" not in told
    assert "by-mistake" not in told
    assert HASH not in told


def test_the_same_token_twice_is_refused_for_nobody_knows_whose_it_is() -> None:
    with pytest.raises(ConfigurationError, match="line 2: the same token"):
        parse_grants(f"alice {HASH}\nbob {HASH}\n", "tokens")


def test_a_line_says_everything_about_its_grant() -> None:
    grant = Grant(
        tenant="jo.doe@example-1",
        digest=digest_of("a token"),
        expires=datetime(2030, 1, 31, 12, tzinfo=UTC),
        scopes=("sifaka:read",),
    )
    line = grant.line()
    assert line == f"jo.doe@example-1 {HASH} expires=2030-01-31T12:00:00Z scopes=sifaka:read"
    assert list(parse_grants(line, "tokens").values()) == [grant]
    short = Grant(tenant="bob", digest=digest_of("x"))
    assert parse_grants(short.line(), "tokens") == {short.digest: short}


def test_a_grant_is_over_at_its_last_moment() -> None:
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    grant = Grant(tenant="alice", digest=b"", expires=moment)
    assert grant.is_over(moment)
    assert not grant.is_over(moment - timedelta(microseconds=1))


def test_tokens_have_256_random_bits() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(token.startswith("sfk_") and len(token) == 47 for token in tokens)


RESOURCE = "http://127.0.0.1:8000/mcp"


async def test_a_token_stands_for_its_tenant_and_goes_no_further_itself(tmp_path: Path) -> None:
    expires = datetime.now(UTC) + timedelta(days=1)
    file = tmp_path / "tokens"
    alice = grant_token(file, "alice", expires=expires, scopes=("sifaka:read",))
    verifier = FileVerifier(TokensFile(file), resource=RESOURCE, scopes=("wanted",))
    found = await verifier.verify_token(alice)
    assert found is not None
    assert (found.subject, found.client_id, found.resource) == ("alice", "alice", RESOURCE)
    assert found.scopes == ["sifaka:read", "wanted"]
    assert found.expires_at == int(expires.timestamp())
    assert found.claims is None, "of no issuer: the tenant has the name as it stands"
    assert alice not in repr(found)
    assert await verifier.verify_token("sfk_unknown") is None
