"""The image, built by buildah without a daemon, and run.

Its base is Debian's own Python: no registry of images is asked. buildah keeps the base for the next
time, which takes minutes to make.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.packaging.project import PROJECT, ROOT

pytestmark = [pytest.mark.servers, pytest.mark.timeout(900)]
BASE, IMAGE = "localhost/sifaka-test-base:bookworm", "localhost/sifaka-test-image"
PACKAGES = "python3,python3-pip,python3-venv,ca-certificates"
CERTIFICATES = "/etc/ssl/certs"
TRUSTING = {"SSL_CERT_FILE": f"{CERTIFICATES}/ca-certificates.crt", "UV_SYSTEM_CERTS": "1"}
"""The package index is asked with the certificates of this machine."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An image like `python:3.12-slim`: `python` and `pip` are those of Debian."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux may make a root file system")
    if shutil.which("buildah") is None:
        pytest.skip("buildah is not installed: apt-get install buildah debootstrap")
    if buildah("images", "--quiet", "--filter", f"reference={BASE}"):
        return BASE
    if shutil.which("debootstrap") is None:
        pytest.skip("debootstrap is not installed: apt-get install debootstrap")
    root = tmp_path_factory.mktemp("base") / "root"
    done = subprocess.run(
        ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", root],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"debootstrap cannot make a base: {done.stdout[-200:]}{done.stderr[-200:]}")
    (root / "usr/bin/python").symlink_to("python3")
    for mark in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        mark.unlink()  # Debian's pip installs into the system when this is gone
    container = buildah("from", "scratch")
    buildah("add", "--quiet", container, str(root), "/")
    buildah("config", *(f"--env={name}={value}" for name, value in TRUSTING.items()), container)
    buildah("commit", "--quiet", "--rm", container, BASE)
    return BASE


@pytest.fixture(scope="module")
def container(base: str) -> Generator[str]:
    """A container of the image that the Dockerfile makes."""
    certificates = f"--volume={CERTIFICATES}:{CERTIFICATES}:ro"
    buildah(
        *("bud", "--isolation=chroot", "--format=docker", "--no-cache", f"--build-arg=BASE={base}"),
        *(certificates, f"--tag={IMAGE}", str(ROOT)),
    )
    name = buildah("from", IMAGE)
    try:
        yield name
    finally:
        buildah("rm", name)
        buildah("rmi", IMAGE)


def buildah(*arguments: str) -> str:
    """What a command of buildah prints."""
    done = subprocess.run(["buildah", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-1000:]}{done.stderr[-2000:]}"
    return done.stdout.strip()


def in_container(name: str, *command: str, variables: Mapping[str, str] | None = None) -> list[str]:
    """The words that run a command in it, as its own user."""
    told = [f"--env={variable}={value}" for variable, value in (variables or {}).items()]
    return ["buildah", "run", "--isolation=chroot", *told, name, "--", *command]


def test_the_image_holds_the_command_for_a_user_who_is_not_root(container: str) -> None:
    said = subprocess.run(
        in_container(container, "sifaka", "--version"), capture_output=True, text=True, check=True
    ).stdout
    assert PROJECT["version"] in said.split()
    code = "import os; print(os.getuid()); open('/data/there', 'w'); open('/opt/sifaka/there', 'w')"
    done = subprocess.run(
        in_container(container, "python", "-c", code), capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "10001"
    assert "Permission denied: '/opt/sifaka/there'" in done.stderr


def test_what_it_starts_and_its_health_check_are_kept_by_the_builder(container: str) -> None:
    form = "{{.Docker.Config.Entrypoint}} {{.Docker.Config.User}} {{.Docker.Config.Healthcheck}}"
    assert container
    said = buildah("inspect", "--type=image", f"--format={form}", IMAGE)
    assert said.startswith("[sifaka-mcp] 10001 ")
    assert "/healthz" in said


@pytest.mark.anyio
async def test_the_image_answers_over_stdio(container: str) -> None:
    command, *arguments = in_container(container, "sifaka-mcp", "--transport=stdio")
    with anyio.fail_after(60):
        async with Client(StdioServerParameters(command=command, args=arguments)) as client:
            assert client.server_info is not None
            assert client.server_info.version == PROJECT["version"]
            improved = await client.call_tool("improve_text", {"text": "It is is so ."})
    assert not improved.is_error, improved.content


def test_files_of_this_checkout_that_are_not_asked_for_are_not_in_it(container: str) -> None:
    code = "import pathlib; print(*(p.name for p in pathlib.Path('/').iterdir()))"
    there = subprocess.run(
        in_container(container, "python", "-c", code), capture_output=True, text=True, check=True
    ).stdout.split()
    assert "src" not in there, "that was the folder of the build"
