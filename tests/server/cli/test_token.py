"""`sifaka token`, and what `sifaka doctor` says of who is let in."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sifaka_mcp.auth.tokens_file import TokensFile
from sifaka_mcp.cli import run
from tests.stubs.issuer import issuer


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "tokens"
    monkeypatch.setenv("SIFAKA_AUTH_TOKENS_FILE", str(path))
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path))
    return path


def test_a_token_is_shown_once_and_only_its_hash_is_kept(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["token", "alice"]) == 0
    out, err = capsys.readouterr()
    token = out.strip()
    assert out == f"{token}\n", "for a variable of a shell"
    assert token not in err
    assert token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert run(["token", "bob", "--expires", "90d", "--scopes", "sifaka:read"]) == 0
    tokens = TokensFile(file)
    alice, bob = tokens.grant(token), tokens.grant(capsys.readouterr().out.strip())
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
        (["alice", "--expires", "soon"], "'soon' is no duration"),
        (["alice", "--expires", "0d"], "'0d' is no duration"),
        (["alice", "--expires", "999999999d"], "is no duration"),
        (["alice", "--auth-tokens-file", "/no/folder/tokens"], "cannot be written: No such file"),
    ],
)
def test_what_no_token_can_be_made_for_is_told_in_one_line(
    file: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["token", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert not file.exists()


def test_a_file_that_is_wrong_gets_no_further_lines(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("alice sfk_the-token-itself\n")
    assert run(["token", "bob"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "line 1" in err
    assert "itself" not in err
    assert file.read_text().count("\n") == 1


def test_without_a_file_it_is_told_how_to_name_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIFAKA_HOME", str(tmp_path))
    assert run(["token", "alice"]) == 2
    assert "SIFAKA_AUTH_TOKENS_FILE" in capsys.readouterr().err


def test_the_doctor_looks_at_who_is_let_in(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["doctor"]) == 1
    assert "FAIL  tokens file" in capsys.readouterr().out
    assert run(["token", "alice"]) == 0
    with issuer() as told:
        monkeypatch.setenv("SIFAKA_OAUTH_ISSUER", told.url)
        capsys.readouterr()
        assert run(["doctor"]) == 0
        out = capsys.readouterr().out
        assert f"ok    tokens file: {file}: 1 valid, 0 expired" in out
        assert f"ok    issuer: {told.url}: 1 keys" in out
        told.jwks = "error"
        assert run(["doctor"]) == 1
        assert f"FAIL  issuer: the keys of {told.url} cannot be fetched" in capsys.readouterr().out
