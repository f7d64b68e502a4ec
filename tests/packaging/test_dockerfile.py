"""The image without a builder: its very instructions are read and its commands are run.

`test_image.py` builds it, where there is a builder.
"""

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.packaging.dockerfile import Instruction, read_dockerfile
from tests.packaging.project import PROJECT
from tests.stubs.servers import environment

ROOT = Path(__file__).parents[2]
BUILD, FINAL = read_dockerfile(ROOT / "Dockerfile")
PORT = "8000"


def test_it_has_a_build_stage_and_a_slim_final_one_on_the_same_python() -> None:
    assert BUILD.image == FINAL.image
    assert re.fullmatch(r"python:3\.12-slim@sha256:[0-9a-f]{64}", FINAL.image)
    assert BUILD.name == "build"
    # An environment works only where it was made, and only with the interpreter it was made with.
    place = BUILD.environment["UV_PROJECT_ENVIRONMENT"]
    assert f"--from=build {place} {place}" in FINAL.all("COPY")
    assert FINAL.environment["PATH"].startswith(f"{place}/bin:")


def test_it_installs_from_the_lock_with_a_pinned_uv_and_without_tools_of_development() -> None:
    install, sync, ours = [i.command for i in BUILD.instructions if i.name == "RUN"]
    assert install == "pip install --require-hashes -r distribution/locks/uv.txt"
    assert sync.startswith("uv sync --frozen --no-dev --no-install-project ")
    assert "--extra http" in sync, "what the image serves over"
    # Not editable: the sources are not copied into the final stage.
    place = BUILD.environment["UV_PROJECT_ENVIRONMENT"]
    assert ours.startswith(f"uv pip install --python {place} --no-deps --build-constraints ")


def test_what_is_downloaded_is_kept_between_builds_and_is_no_layer() -> None:
    for step in BUILD.all("RUN"):
        program = Instruction("RUN", step).command.split()[0]
        assert step.startswith(f"--mount=type=cache,target=/root/.cache/{program} ")


def test_the_base_is_an_argument_so_that_another_can_be_named() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("FROM ")] == [
        "FROM ${BASE} AS build",
        "FROM ${BASE}",
    ]


def test_the_labels_say_what_it_is_and_to_which_entry_of_the_registry_it_belongs() -> None:
    labels = dict(word.split("=", 1) for word in shlex.split(FINAL.only("LABEL").value))
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    prefix = "org.opencontainers.image"
    assert labels == {
        f"{prefix}.title": entry["title"],
        f"{prefix}.description": entry["description"],
        f"{prefix}.source": PROJECT["urls"]["Repository"],
        f"{prefix}.licenses": PROJECT["license"],
        f"{prefix}.version": PROJECT["version"],
        "io.modelcontextprotocol.server.name": entry["name"],
    }


def test_it_runs_as_somebody_else_than_root_whose_data_is_on_a_volume() -> None:
    user = FINAL.only("USER").value
    assert user.partition(":")[0] not in {"root", "0"}
    (setup,) = FINAL.all("RUN")
    assert f"--uid {user}" in setup
    home = FINAL.environment["SIFAKA_HOME"]
    assert FINAL.only("VOLUME").value == home
    assert setup.endswith(f"--mode=0700 {home}"), "the volume belongs to the user"
    order = [i.name for i in FINAL.instructions]
    assert order.index("RUN") < order.index("USER") < order.index("VOLUME")


def test_the_port_is_one_and_the_same_everywhere() -> None:
    assert FINAL.only("EXPOSE").value == PORT
    words = FINAL.only("CMD").exec_form
    assert words[words.index("--port") + 1] == PORT
    assert words[words.index("--host") + 1] == "0.0.0.0"  # noqa: S104 - that is the point
    assert words[words.index("--transport") + 1] == "http"
    assert PORT in FINAL.health_command[-1]
    assert FINAL.health_command[0] == "python", "slim images have no curl"


def test_the_build_context_holds_what_is_copied_and_nothing_else() -> None:
    patterns = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    kept = {line[1:] for line in patterns if line.startswith("!")}
    copied = {source for copy in BUILD.all("COPY") for source in copy.split()[:-1]}
    assert "*" in patterns
    assert kept == copied
    assert all((ROOT / name).exists() for name in copied)
    assert "**/__pycache__" in patterns


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    """Where the build's own steps have put the commands; None when uv's cache lacks a package."""
    context, venv = tmp_path_factory.mktemp("context"), tmp_path_factory.mktemp("image") / "venv"
    for step in BUILD.instructions:
        if step.name == "COPY":
            _copy(step.value.split(), context)
        elif step.name == "RUN" and step.command.startswith("uv "):
            done = _uv(step.command, context, venv)
            if done.returncode and re.search("offline|[Nn]etwork connectivity", done.stderr):
                return None
            assert done.returncode == 0, done.stderr
    return venv / "bin"


@pytest.mark.servers
def test_the_build_steps_install_the_commands(installed: Path | None) -> None:
    if installed is None:
        pytest.skip("uv's cache does not hold every package of the lock")
    for command in ("sifaka", "sifaka-mcp"):
        assert (installed / command).exists()
    code = "import sifaka, sifaka_mcp; print(sifaka_mcp.__file__, sifaka.__file__)"
    places = subprocess.run(
        [installed / "python", "-c", code], capture_output=True, text=True, check=True, cwd="/"
    ).stdout.split()
    assert all(place.startswith(str(installed.parent)) for place in places)
    assert not (installed / "pytest").exists()


@pytest.mark.servers
def test_the_server_lets_in_whom_it_was_told_and_ends(
    installed: Path | None, tmp_path: Path
) -> None:
    commands = installed or Path(sys.executable).parent
    tokens = tmp_path / "tokens"
    made = subprocess.run(
        [commands / "sifaka", "token", "somebody", "--auth-tokens-file", tokens],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    with _serving(commands, tmp_path, SIFAKA_AUTH_TOKENS_FILE=str(tokens)) as (process, port):
        assert _health(commands, port) == 0, "whoever looks after the container has no token"
        assert _asked(port, None) == 401
        assert _asked(port, made) not in {401, 403}
        process.send_signal(signal.SIGTERM)  # what `docker stop` sends
        assert process.wait(timeout=100) in {0, -signal.SIGTERM}
    assert _health(commands, port) != 0


@pytest.mark.servers
def test_a_container_that_lets_nobody_in_says_what_to_do(
    installed: Path | None, tmp_path: Path
) -> None:
    done = subprocess.run(
        _command(installed or Path(sys.executable).parent),
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "--auth-tokens-file" in line
    assert "sifaka token" in line
    assert "--allow-anonymous" in line


def test_nobody_listening_is_unhealthy_unless_it_serves_over_stdio() -> None:
    commands = Path(sys.executable).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        assert _health(commands, port) != 0
        assert _health(commands, port, ["sifaka-mcp"]) == 0


def _copy(words: list[str], context: Path) -> None:
    *sources, target = words
    for source in sources:
        if target.endswith("/") and target != "./":
            (context / target).mkdir(parents=True, exist_ok=True)
        place = context / target if target != "./" else context / source
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, place)


def _uv(command: str, context: Path, venv: Path) -> subprocess.CompletedProcess[str]:
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if beside.exists() else shutil.which("uv")
    assert uv, "make installs uv"
    place = BUILD.environment["UV_PROJECT_ENVIRONMENT"]
    words = shlex.split(command.replace("${EXTRAS}", "").replace(place, str(venv)))
    return subprocess.run(
        [uv, *words[1:]],
        cwd=context,
        env=_paths(os.environ)
        | {"UV_PROJECT_ENVIRONMENT": str(venv), "UV_PYTHON": sys.executable, "UV_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def _paths(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name != "VIRTUAL_ENV"}


def _command(commands: Path) -> list[str]:
    """ENTRYPOINT and CMD on a free port instead of the image's."""
    entry, *rest = FINAL.only("ENTRYPOINT").exec_form
    arguments = ["0" if word == PORT else word for word in FINAL.only("CMD").exec_form]
    return [str(commands / entry), *rest, *arguments]


@contextmanager
def _serving(
    commands: Path, home: Path, **settings: str
) -> Generator[tuple[subprocess.Popen[str], int]]:
    process = subprocess.Popen(
        _command(commands),
        env=environment(home, **settings),
        cwd=home,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "listening on http://0.0.0.0:" in line, line
            yield process, int(line.rpartition(":")[2].partition("/")[0])
        finally:
            process.kill()


def _asked(port: int, token: str | None) -> int:
    """The status of a call, with a token or without."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    try:
        connection.request("POST", "/mcp", headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def _health(commands: Path, port: int, started: Sequence[str] | None = None) -> int:
    """What the check says of the first process of a container, which was started like this."""
    program, *arguments = FINAL.health_command
    with tempfile.NamedTemporaryFile() as first:
        words = started or [*FINAL.only("ENTRYPOINT").exec_form, *FINAL.only("CMD").exec_form]
        first.write("\0".join(words).encode())
        first.flush()
        there = {PORT: str(port), "/proc/1/cmdline": first.name}
        command = [str(commands / program)]
        for word in arguments:
            for old, new in there.items():
                word = word.replace(old, new)
            command.append(word)
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode
