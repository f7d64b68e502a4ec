"""A real MediaWiki on a free port of the loopback, with the pages of `tests/wiki/pages`.

How to use it, in tests marked `@pytest.mark.wiki`, which `make test-wiki` runs:

    @pytest.mark.wiki
    async def test_something(wiki_api: str) -> None:
        adapter = MediaWikiAdapter(wiki_api)

`wiki_api` is `http://127.0.0.1:PORT/api.php`, one wiki for all tests of a process; nobody can
change its pages. With `wiki_running()` a test has one of its own, such as to kill it or to have
`extracts`, the extension TextExtracts. What its pages say stands in `tests/wiki/FACTS.md`; when
they were changed last in `tests/wiki/changed.json`.

The wiki is installed once for each version of its pages, into `build/wiki`, which takes some
seconds; every start copies what is there. Nothing outside of that and of temporary folders is
written. It needs the Debian packages of `PACKAGES`.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from time import monotonic

import httpx2
import pytest

PACKAGES = "mediawiki php-cli php-sqlite3 php-mbstring php-xml php-intl"
"""What Debian and its relatives call the programs."""
PROGRAM = Path("/usr/share/mediawiki")
SOURCES = Path(__file__).parent.parent / "wiki"
PAGES = SOURCES / "pages"
_PREPARED = SOURCES.parent.parent / "build" / "wiki"
_START_SECONDS = 60.0
_QUIET = ("-d", "display_errors=0", "-d", "log_errors=0", "-d", "memory_limit=256M")


@dataclass(frozen=True, slots=True)
class Wiki:
    """A wiki that runs."""

    api: str
    """The URL of its `api.php`."""
    process: "subprocess.Popen[bytes]"

    def kill(self) -> None:
        """End it at once, with all its workers."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)


@contextmanager
def wiki_running(*, extracts: bool = False, workers: int = 4) -> Generator[Wiki]:
    """A wiki of one's own.

    Args:
        extracts: Whether it has the extension TextExtracts, which gives plain text.
        workers: Requests that it answers at the same time.

    Raises:
        RuntimeError: A program is missing, or the wiki does not come up.
    """
    prepared = _prepared()
    with tempfile.TemporaryDirectory(prefix="wiki-") as temporary:
        folder = Path(temporary) / "wiki"
        shutil.copytree(prepared, folder)
        port = _free_port()
        server = f"http://127.0.0.1:{port}"
        told = {"WIKI_SERVER": server, "PHP_CLI_SERVER_WORKERS": str(workers)}
        if extracts:
            told["WIKI_EXTRACTS"] = "1"
        process = subprocess.Popen(
            ["php", *_QUIET, "-S", f"127.0.0.1:{port}", "-t", str(PROGRAM)],
            env=_environment(folder, told),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wiki = Wiki(f"{server}/api.php", process)
        try:
            _wait_for(wiki)
            yield wiki
        finally:
            wiki.kill()


@pytest.fixture(scope="session")
def wiki_api() -> Generator[str]:
    """The URL of the `api.php` of the wiki that all tests of this process share."""
    with wiki_running() as wiki:
        yield wiki.api


def _prepared() -> Path:
    """A folder with an installed wiki and its pages, made unless it is there."""
    program = PROGRAM / "api.php"
    missing = "php" if shutil.which("php") is None else str(program)
    if missing == "php" or not program.exists():
        raise RuntimeError(f"{missing} is missing; as root: apt-get install {PACKAGES}")
    folder = _PREPARED / _digest()
    if not folder.exists():
        _PREPARED.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_PREPARED, prefix="new-") as temporary:
            made = Path(temporary) / "wiki"
            _install(made)
            try:
                made.rename(folder)
            except OSError:
                if not folder.exists():  # otherwise somebody else was faster
                    raise
    return folder


def _install(folder: Path) -> None:
    for name in ("data", "cache", "conf", "pages"):
        (folder / name).mkdir(parents=True)
    options = f"--confpath {folder}/conf --dbtype sqlite --dbpath {folder}/data --dbname wiki"
    _maintain(folder, "install", *options.split(), "--pass", "tests-of-the-wiki", "Wiki", "Admin")
    shutil.copy(SOURCES / "settings.php", folder / "settings.php")
    changed: dict[str, str] = json.loads((SOURCES / "changed.json").read_text())
    for page in sorted(PAGES.glob("*.wiki")):
        copy = folder / "pages" / page.name
        copy.write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
        when = datetime.fromisoformat(changed.get(page.stem, changed["*"])).timestamp()
        os.utime(copy, (when, when))
    pages = [str(page) for page in sorted((folder / "pages").iterdir())]
    _maintain(folder, "importTextFiles", "--use-timestamp", *pages)
    _maintain(folder, "rebuildtextindex")


def _maintain(folder: Path, script: str, *arguments: str) -> None:
    has_settings = (folder / "settings.php").exists()
    done = subprocess.run(
        ["php", *_QUIET, str(PROGRAM / "maintenance" / f"{script}.php"), *arguments],
        env=_environment(folder, {"WIKI_WRITABLE": "1"}) if has_settings else None,
        capture_output=True,
        text=True,
        timeout=_START_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        told = (done.stdout + done.stderr)[-500:]
        raise RuntimeError(f"{script} of MediaWiki failed: {told}")


def _environment(folder: Path, told: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "MW_CONFIG_FILE": str(folder / "settings.php"), **told}


def _digest() -> str:
    found = sha256((PROGRAM / "includes" / "Defines.php").read_bytes())  # has the version
    for file in (Path(__file__), *sorted(SOURCES.rglob("*"))):
        if file.suffix in {".wiki", ".php", ".json"} or file == Path(__file__):
            found.update(f"{file.name}\n".encode() + file.read_bytes())
    return found.hexdigest()[:16]


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_for(wiki: Wiki) -> None:
    """Return when it answers."""
    end = monotonic() + _START_SECONDS
    while monotonic() < end:
        try:
            wiki.process.wait(0.05)
        except subprocess.TimeoutExpired:
            try:
                answer = httpx2.get(
                    wiki.api, params={"action": "query", "meta": "siteinfo", "format": "json"}
                )
                if answer.status_code == 200 and "query" in answer.json():
                    return
            except httpx2.TransportError:
                continue
        else:
            break
    raise RuntimeError(f"the wiki at {wiki.api} did not come up: {wiki.process.poll()}")
