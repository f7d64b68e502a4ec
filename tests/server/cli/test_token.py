"""`sifaka token`, and what `sifaka doctor` says of who is let in."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sifaka_mcp.auth.tokens_file import TokensFile
from tests.stubs.commands import Sifaka
from tests.stubs.issuer import issuer


@pytest.fixture
def file(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIFAKA_AUTH_TOKENS_FILE", str(here / "tokens"))
    return here / "tokens"


def test_a_token_is_shown_once_and_only_its_hash_is_kept(sifaka: Sifaka, file: Path) -> None:
    code, out, err = sifaka("token", "alice")
    token = out.strip()
    assert (code, out) == (0, f"{token}\n"), "for a variable of a shell"
    assert token not in err
    assert token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other = sifaka.prints("token", "bob", "--expires", "90d", "--scopes", "sifaka:read").strip()
    tokens = TokensFile(file)
    alice, bob = tokens.grant(token), tokens.grant(other)
    assert alice is not None
    assert (alice.tenant, alice.expires, alice.scopes) == ("alice", None, ())
    assert bob is not None
    assert bob.expires is not None
    left = bob.expires - datetime.now(UTC)
    assert timedelta(days=89, hours=23) < left <= timedelta(days=90)
    assert bob.scopes == ("sifaka:read",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a b"], "the tenant should be 1 to 64"),
        (["~alice"], "the tenant should be 1 to 64"),
        (["alice", "--scopes", "admin"], "the scopes should be of sifaka:read, sifaka:write"),
        (["alice", "--scopes", ""], "the scopes should be of"),
        (["alice", "--expires", "soon"], "'soon' is not an age such as 90d"),
        (["alice", "--expires", "0d"], "a token that ends now is none"),
        (["alice", "--expires", "999999999d"], "out of range"),
        (["alice", "--auth-tokens-file", "/no/folder/tokens"], "cannot be written: No such file"),
    ],
)
def test_what_no_token_can_be_made_for_is_told_in_one_line(
    sifaka: Sifaka, file: Path, arguments: list[str], said: str
) -> None:
    assert said in sifaka.refuses("token", *arguments)
    assert not file.exists()


def test_a_file_that_is_wrong_or_not_named_gets_no_line(sifaka: Sifaka, file: Path) -> None:
    file.write_text("alice sfk_the-token-itself\n")
    err = sifaka.refuses("token", "bob")
    assert "line 1" in err
    assert "itself" not in err
    assert file.read_text().count("\n") == 1
    unnamed = sifaka.refuses("token", "alice", SIFAKA_AUTH_TOKENS_FILE="")
    assert "SIFAKA_AUTH_TOKENS_FILE" in unnamed


@pytest.mark.slow
def test_the_doctor_looks_at_them(
    sifaka: Sifaka, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "FAIL  tokens file" in sifaka.prints("doctor", code=1)
    sifaka.prints("token", "alice")
    with issuer() as told:
        monkeypatch.setenv("SIFAKA_OAUTH_ISSUER", told.url)
        out = sifaka.prints("doctor")
        assert f"ok    tokens file: {file}: 1 valid, 0 expired" in out
        assert f"ok    issuer: {told.url}: 1 keys" in out
        told.jwks = "error"
        failing = sifaka.prints("doctor", code=1)
        assert f"FAIL  issuer: the keys of {told.url} cannot be fetched" in failing
