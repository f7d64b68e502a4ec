"""The lines of a tokens file."""

from datetime import UTC, datetime, timedelta

import pytest

from sifaka.errors import ConfigurationError
from sifaka_mcp.auth.tokens_file import Grant, digest_of, new_token, parse_grants

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
