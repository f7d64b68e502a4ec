"""compose.yaml is read, and its scripts are run; test_replicas.py runs what it puts together."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from sifaka.storage import open_store
from sifaka_mcp.settings.sources import load_settings
from tests.packaging.dockerfile import read_dockerfile
from tests.packaging.project import PROJECT, ROOT
from tests.stubs.nginx import CONFIGURATION
from tests.stubs.redis_server import redis_server

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
SERVER = SERVICES["server"]
SECRETS_SCRIPT = ROOT / "distribution" / "secrets.sh"


def defaults(text: str) -> str:
    """A value as it is when the environment says nothing."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_there_are_a_proxy_servers_redis_and_milvus_for_those_who_ask_for_it() -> None:
    assert SERVICES.keys() == {"proxy", "server", "redis", "milvus"}
    assert SERVER["deploy"]["replicas"] >= 2
    asked_for = {name for name, service in SERVICES.items() if "profiles" in service}
    assert asked_for == {"milvus"}


def test_every_service_says_when_it_is_healthy_and_waits_for_those_it_needs() -> None:
    image = read_dockerfile(ROOT / "Dockerfile")[-1]
    for name, service in SERVICES.items():
        # The image of the server brings its own check.
        assert "healthcheck" in service or (name == "server" and image.health_command), name
        for needed in service.get("depends_on", {}).values():
            assert needed == {"condition": "service_healthy"}, name
    assert SERVICES["proxy"]["depends_on"].keys() == {"server"}
    assert SERVER["depends_on"].keys() == {"redis"}


def test_images_of_others_are_of_one_version() -> None:
    for name, service in SERVICES.items():
        if "build" not in service:
            assert re.search(r":v?\d+(\.\d+)*(-alpine)?$", service["image"]), name


def test_only_the_proxy_is_reached_from_outside_and_first_from_this_machine_alone() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    (port,) = SERVICES["proxy"]["ports"]
    assert defaults(port) == "127.0.0.1:8000:8000"
    assert COMPOSE["networks"]["back"] == {"internal": True}
    for name in ("redis", "milvus"):
        assert SERVICES[name]["networks"] == ["back"]
    assert SERVICES["proxy"]["networks"] == ["front"]


def test_secrets_are_files_that_are_neither_committed_nor_built_in() -> None:
    secrets: dict[str, dict[str, str]] = COMPOSE["secrets"]
    assert {name: f"./secrets/{name}" for name in secrets} == {
        name: secret["file"] for name, secret in secrets.items()
    }
    used = {name for service in SERVICES.values() for name in service.get("secrets", [])}
    assert used == set(secrets)
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    context = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "secrets/" in ignored
    assert "*" in context
    assert not any(line.startswith("!secrets") for line in context)


def test_what_is_mounted_and_what_is_named_exists() -> None:
    for name, service in SERVICES.items():
        for volume in cast("list[str]", service.get("volumes", [])):
            source = volume.partition(":")[0]
            if source.startswith("./"):
                assert (ROOT / source).is_file(), name
                assert volume.endswith(":ro"), name
            else:
                assert source in COMPOSE["volumes"], name
        assert set(service["networks"]) <= set(COMPOSE["networks"]), name


def test_the_variables_of_the_servers_are_settings_and_are_right(tmp_path: Path) -> None:
    told = {name: defaults(value) for name, value in SERVER["environment"].items()}
    settings = load_settings(told)
    for name, value in told.items():
        field = name.removeprefix("SIFAKA_").lower()
        assert not value or field in settings.model_fields_set, name
    # The volume, and what the image says about it.
    image = read_dockerfile(ROOT / "Dockerfile")[-1]
    home = image.environment["SIFAKA_HOME"]
    assert settings.auth_tokens_file == Path(home) / "tokens"
    assert SERVER["volumes"] == [f"data:{home}"]
    assert SERVER["command"] == image.only("CMD").exec_form


def test_the_image_is_built_with_extras_that_there_are() -> None:
    extras = SERVER["build"]["args"]["EXTRAS"].split("--extra ")
    named = {extra.strip() for extra in extras if extra.strip()}
    assert {"redis", "milvus"} <= named <= set(PROJECT["optional-dependencies"])


def test_the_proxy_asks_the_servers_where_they_listen_and_holds_nothing_back() -> None:
    text = CONFIGURATION.read_text(encoding="utf-8")
    words = SERVER["command"]
    port = words[words.index("--port") + 1]
    assert f"server server:{port} resolve;" in text
    assert "listen 8000;" in text
    for line in (
        "proxy_buffering off;",
        "gzip off;",
        "proxy_set_header Host $http_host;",
        "proxy_set_header X-Forwarded-For $remote_addr;",
    ):
        assert text.count(line) == 1, line


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    folder = tmp_path / "secrets"
    subprocess.run(["sh", SECRETS_SCRIPT, folder], check=True)
    return folder


def test_the_script_makes_every_secret_once_and_keeps_others_out(secrets: Path) -> None:
    made = {path.name: path.read_text(encoding="ascii") for path in secrets.iterdir()}
    assert made.keys() == set(COMPOSE["secrets"])
    assert secrets.stat().st_mode & 0o777 == 0o700
    settings = load_settings({name: text.strip() for name, text in made.items()})
    (key,) = settings.state_keys
    assert len(key.get_secret_value()) == 64
    subprocess.run(["sh", SECRETS_SCRIPT, secrets], check=True)
    assert made == {path.name: path.read_text(encoding="ascii") for path in secrets.iterdir()}


@pytest.mark.anyio
async def test_redis_and_the_servers_have_the_same_secret(secrets: Path, tmp_path: Path) -> None:
    command = SERVICES["redis"]["command"]
    assert command[:2] == ["redis-server", "/run/secrets/redis.conf"]
    store_url = (secrets / "SIFAKA_STORE").read_text(encoding="ascii").strip()
    with redis_server("--include", str(secrets / "redis.conf")) as server:
        url = store_url.replace("@redis:6379/", f"@127.0.0.1:{server.port}/")
        assert url != store_url
        store = open_store(url, home=tmp_path)
        try:
            assert (await store.recent(limit=1)).runs == ()
            assert store.degraded == ()
        finally:
            await store.aclose()


def test_a_server_has_its_secrets_in_its_environment(secrets: Path, tmp_path: Path) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    stand_in = commands / "sifaka-mcp"
    stand_in.write_text('#!/bin/sh\necho "$SIFAKA_STATE_KEYS"\nprintf "<%s>" "$@"\n', "ascii")
    stand_in.chmod(0o755)
    (secrets / "redis.conf").unlink()  # not one of the servers'
    shell, option, script, name = SERVER["entrypoint"]
    # `$$` is how Compose writes a `$` of the shell.
    script = script.replace("$$", "$").replace("/run/secrets", str(secrets))
    done = subprocess.run(
        [shell, option, script, name, "--port", "8 000"],
        env={"PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    key = (secrets / "SIFAKA_STATE_KEYS").read_text(encoding="ascii")
    assert done.stdout == f"{key}\n<--port><8 000>"


def test_compose_itself_takes_the_file() -> None:
    docker = shutil.which("docker")
    version = docker and subprocess.run([docker, "compose", "version"], capture_output=True)
    if not docker or not version or version.returncode:
        pytest.skip("there is no Docker Compose here")
    for options in ([], ["--profile", "milvus"]):
        subprocess.run([docker, "compose", *options, "config", "--quiet"], cwd=ROOT, check=True)


def test_the_server_has_no_rights_that_it_does_not_need() -> None:
    assert SERVER["read_only"] is True
    assert SERVER["cap_drop"] == ["ALL"]
    assert SERVER["security_opt"] == ["no-new-privileges:true"]
    assert SERVER["tmpfs"] == ["/tmp"]  # noqa: S108 - of the container
    assert not {"privileged", "cap_add", "user"} & SERVER.keys()
