"""Starting beside files and packages that have the names of ours."""

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from sifaka_mcp.installation import other_project, wrong_package

SIFAKA = Path(sys.executable).with_name("sifaka")
"""The installed command."""


def ran(*command: str | Path, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={"SIFAKA_HOME": str(folder / "home"), "PATH": "/usr/bin:/bin", **environ},
        capture_output=True,
        text=True,
        timeout=100,
    )


def a_module(folder: Path) -> None:
    (folder / "server.py").write_text("raise RuntimeError('the user started this')\n")


def a_package(folder: Path) -> None:
    (folder / "server").mkdir()
    (folder / "server" / "__init__.py").write_text("raise RuntimeError('the user started this')\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "command"),
    [(a_module, [SIFAKA]), (a_package, [sys.executable, "-m", "sifaka_mcp.cli"])],
)
def test_a_server_of_the_users_own_in_the_folder_does_no_harm(
    tmp_path: Path, server: Callable[[Path], None], command: list[str | Path]
) -> None:
    server(tmp_path)
    done = ran(*command, "--version", folder=tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, version("sifaka-mcp")), done.stderr
    done = ran(*command, "history", folder=tmp_path)
    assert done.returncode == 0, done.stderr


def install_the_other(folder: Path) -> None:
    """Put what `pip install sifaka` leaves into a folder, as far as it matters."""
    package, record = folder / "sifaka", folder / "sifaka-0.3.0.dist-info"
    package.mkdir()
    record.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('another project was imported')\n")
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: sifaka\nVersion: 0.3.0\n")
    files = ["sifaka/__init__.py,,", "sifaka/core/engine.py,,", "sifaka-0.3.0.dist-info/METADATA,,"]
    (record / "RECORD").write_text("\n".join(files))


def test_the_other_project_is_found_with_its_files_and_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (other_project(), wrong_package()) == (None, None)
    install_the_other(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    found = other_project()
    assert found is not None
    assert found.startswith(f"{tmp_path / 'sifaka'} has 2 files of sifaka 0.3.0, another project")
    assert found.endswith("pip uninstall sifaka, and install this project again")


@pytest.mark.slow
def test_doctor_says_that_the_other_project_is_installed(tmp_path: Path) -> None:
    install_the_other(tmp_path)
    # Ours was installed over it, so that its files are there no more, but its record is.
    (tmp_path / "sifaka" / "__init__.py").unlink()
    (tmp_path / "sifaka").rmdir()
    done = ran(SIFAKA, "doctor", folder=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 1, done.stderr
    assert f"FAIL  installation: {tmp_path / 'sifaka'} has 2 files of sifaka 0.3.0" in done.stdout


@pytest.mark.parametrize("command", ["--version", "serve"])
def test_a_start_with_the_other_package_is_one_clear_line(tmp_path: Path, command: str) -> None:
    install_the_other(tmp_path)
    done = ran(SIFAKA, command, folder=tmp_path, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("sifaka: ")
    assert "sifaka 0.3.0, another project" in line
    assert line.endswith("pip uninstall sifaka, and install this project again")
