"""What a person grants: `sifaka token` lets a tenant in, `sifaka trust` a folder set more."""

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO

from sifaka._internal.masking import masked
from sifaka.errors import ConfigurationError
from sifaka_mcp.cli import options as opt
from sifaka_mcp.cli.process import print_lines, say
from sifaka_mcp.cli.session import Session
from sifaka_mcp.safe_text import flat
from sifaka_mcp.settings import config_folder
from sifaka_mcp.settings.sources import (
    FILE,
    OF_THE_USER,
    ProjectFile,
    canonical,
    digests,
    keep_trusted,
    load_settings,
    read_project,
    trusted_folders,
)

_DONE, _DECLINED = 0, 2
_UNSHOWN = frozenset({"adapter_keys", "state_keys"})


@opt.command(
    opt.argument("name", help="the tenant: its holder sees and writes the runs of it"),
    opt.argument(
        "--expires",
        type=opt.parse_age,
        metavar="AGE",
        help="when it ends: 12h, 90d; never without",
    ),
    opt.argument("--scopes", help="comma-separated: sifaka:read, sifaka:write; all without"),
    opt.argument("--auth-tokens-file", help="what the server is told too; made if it is not there"),
)
def token(session: Session) -> int:
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
    if options.expires == timedelta(0):
        raise ConfigurationError("a token that ends now is none", "write it as 90d, 12h or 30m")
    secret = new_token()
    try:
        grant = Grant(
            tenant=checked_tenant(options.name),
            digest=digest_of(secret),
            expires=None if options.expires is None else datetime.now(UTC) + options.expires,
            scopes=() if options.scopes is None else parse_scopes(options.scopes),
        )
    except (ValueError, OverflowError) as error:
        raise ConfigurationError(str(error), "see `sifaka token --help`") from None
    add_grant(path, grant)
    print_lines([secret])
    say(f"{path} has its hash; the token is not kept anywhere, and not shown again")
    return 0


@opt.command(
    opt.argument("folder", metavar="FOLDER", nargs="?", default=".", help="here if none"),
    opt.argument("--yes", action="store_true", help="trust it without asking"),
    opt.argument("--revoke", action="store_true", help="trust it no more"),
    opt.argument("--list", action="store_true", help="show the folders that are trusted"),
)
def trust(session: Session) -> int:
    """Show what the file of a folder would set, ask, and keep its hash and those of its files.

    Raises:
        ConfigurationError: There is no file to trust, it is wrong, or there is no terminal.
    """
    options, config = session.options, config_folder("sifaka")
    trusted, folder = trusted_folders(config), canonical(Path(options.folder))
    if options.list:
        print_lines(flat(_describe_folder(Path(each), config)) for each in trusted)
        return _DONE
    if options.revoke:
        if str(folder) not in trusted:
            raise ConfigurationError(f"{folder} is not trusted", "see `sifaka trust --list`")
        keep_trusted(config, {name: trusted[name] for name in trusted if name != str(folder)})
        print_lines([flat(f"{folder}: trusted no more")])
        return _DONE
    project = read_project(folder, config)
    if project is None:
        raise ConfigurationError(f"there is no {FILE} in {folder}", "name the folder that has one")
    if not project.refused:  # nothing in it has to be trusted
        if project.note:
            raise ConfigurationError(project.note, "correct the file")
        print_lines([flat(_describe_folder(folder, config))])
        return _DONE
    # A file that is wrong would stop every command in the folder once it counts.
    load_settings({}, project=ProjectFile(path=project.path, settings=project.refused))
    hashes = digests(project.path, project.content, project.refused)
    print_lines(map(flat, _describe_grant(project, hashes)))
    if not (options.yes or _confirm_trust()):
        print_lines(["nothing was changed"])
        return _DECLINED
    keep_trusted(config, {**trusted, str(folder): hashes})
    print_lines([flat(f"{folder}: trusted, until one of these files changes")])
    return _DONE


def _describe_folder(folder: Path, config: Path) -> str:
    """The line of a folder in a list."""
    project = read_project(folder, config)
    if project is None:
        return f"{folder}: there is no {FILE} any more"
    return project.note or f"{project.path}: everything in it is taken"


def _describe_grant(project: ProjectFile, hashes: Mapping[str, str]) -> Iterator[str]:
    yield f"{project.path} would set, beside how texts are checked:"
    for name, value in project.refused.items():
        text = "..." if name in _UNSHOWN else masked(str(value))  # whole: nothing hides in it
        yield f"- {name} = {text} ({OF_THE_USER.get(name, 'how texts are checked')})"
    yield f"Files that count, as they are now: {', '.join(hashes)}"


def _confirm_trust() -> bool:
    stdin: TextIO | None = sys.stdin
    if stdin is None or not (stdin.isatty() and sys.stdout.isatty()):
        raise ConfigurationError("there is no terminal to ask at", "add --yes if you trust it")
    print_lines(["Trust it? [y/N]"])
    return stdin.readline().strip().lower() in {"y", "yes"}
