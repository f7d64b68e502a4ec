"""`sifaka token`: let a tenant in over HTTP."""

from datetime import UTC, datetime

from sifaka._internal.durations import parse_duration
from sifaka.errors import ConfigurationError
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.output import print_lines, say
from sifaka_mcp.cli.session import Session

ARGUMENTS = (
    opt.argument("name", help="the tenant: its holder sees and writes the runs of it"),
    opt.argument("--expires", metavar="AGE", help="when it ends: 12h, 90d; never without"),
    opt.argument("--scopes", help="comma-separated: sifaka:read, sifaka:write; all without"),
    opt.argument("--auth-tokens-file", help="what the server is told too; made if it is not there"),
)


def run(session: Session) -> int:
    """Print a new token, once, and keep its hash.

    Raises:
        ConfigurationError: The name, the scopes or the duration is wrong, or the file is.
    """
    from sifaka_mcp.auth.tokens_file import (
        Grant,
        add_grant,
        checked_tenant,
        digest_of,
        new_token,
        parse_scopes,
    )

    options, path = session.options, session.settings.auth_tokens_file
    if path is None:
        raise ConfigurationError(
            "no tokens file is named", "give --auth-tokens-file, or set SIFAKA_AUTH_TOKENS_FILE"
        )
    made = new_token()
    try:
        grant = Grant(
            tenant=checked_tenant(options.name),
            digest=digest_of(made),
            expires=_moment(options.expires),
            scopes=() if options.scopes is None else parse_scopes(options.scopes),
        )
    except ValueError as error:
        raise ConfigurationError(str(error), "see `sifaka token --help`") from None
    add_grant(path, grant)
    print_lines([made])
    say(f"{path} has its hash; the token is not kept anywhere, and not shown again")
    return 0


def _moment(expires: str | None) -> datetime | None:
    if expires is None:
        return None
    try:
        age = parse_duration(expires)
        if age:
            return datetime.now(UTC) + age
    except OverflowError:
        pass
    raise ConfigurationError(f"{expires!r} is no duration", "write it as 90d, 12h or 30m")
