"""What of this package is not installed, and the command that installs it."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

from sifaka.errors import ConfigurationError


def install(*extras: str, beside: str = "") -> str:
    """The command that installs extras where this process runs.

    Args:
        extras: Their names.
        beside: More packages, with spaces between them.
    """
    wanted, others = f"'{_find_source(','.join(extras))}'", beside.split()
    prefix = Path(sys.prefix)
    if prefix.parent.name.startswith("archive-v"):  # uv's environment of a moment
        added = "".join(f" --with {other}" for other in others)
        return f"uvx --from {wanted}{added} {Path(sys.argv[0]).name or 'sifaka-mcp'}"
    if (prefix / "uv-receipt.toml").exists():
        return " ".join(["uv tool install", wanted, *(f"--with {other}" for other in others)])
    pip = f"{sys.executable} -m pip install -e" if wanted.startswith("'/") else "pip install"
    return " ".join([pip, wanted, *others])


def _find_source(extras: str) -> str:
    """This package with extras, from where it was installed: a folder, a repository or an index."""
    from importlib.metadata import distributions
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    records = (each.read_text("direct_url.json") for each in distributions(name="sifaka-mcp"))
    origin: dict[str, object] = json.loads(next(filter(None, records), "{}"))
    if "dir_info" in origin:
        return f"{url2pathname(urlsplit(str(origin['url'])).path)}[{extras}]"
    where = f" @ {'git+' * ('vcs_info' in origin)}{origin['url']}" if origin else ""
    return f"sifaka-mcp[{extras}]{where}"


def installed(*packages: str) -> bool:
    """True when all packages can be imported, by their names as they are imported."""
    return all(find_spec(package) is not None for package in packages)


def require(what: str, extra: str, *packages: str) -> None:
    """See that packages can be imported, without importing them.

    Args:
        what: What needs them, as the subject of a sentence.
        extra: The extra that brings them.
        packages: Their names as they are imported.

    Raises:
        ConfigurationError: One of them is not installed.
    """
    if not installed(*packages):
        raise ConfigurationError(f"{what} needs the extra `{extra}`", install(extra))
