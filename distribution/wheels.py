"""The wheels of a platform, for a bundle that needs nothing from the network at its first start."""

import hashlib
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from distribution.identity import ROOT
from distribution.uv import run_uv

_CPYTHON = "platform_python_implementation == 'CPython' and implementation_name == 'cpython'"


class Platform(NamedTuple):
    """A platform as each of the programs names it."""

    host: str
    """In the manifest of a bundle."""
    uv: str
    marker: str
    tags: tuple[str, ...]
    """Of the wheels that it takes."""


def _linux(machine: str) -> Platform:
    tags = (*(f"manylinux_2_{n}_{machine}" for n in range(28, 4, -1)), f"manylinux2014_{machine}")
    marker = f"sys_platform == 'linux' and platform_machine == '{machine}' and {_CPYTHON}"
    return Platform("linux", f"{machine}-manylinux_2_28", marker, tags)


PLATFORMS: Mapping[str, Platform] = MappingProxyType(
    {
        "linux-x86_64": _linux("x86_64"),
        "linux-aarch64": _linux("aarch64"),
        "macos-arm64": Platform(
            "darwin",
            "aarch64-apple-darwin",
            f"sys_platform == 'darwin' and platform_machine == 'arm64' and {_CPYTHON}",
            ("macosx_14_0_arm64", "macosx_14_0_universal2"),
        ),
        "windows-x86_64": Platform(
            "win32",
            "x86_64-pc-windows-msvc",
            f"sys_platform == 'win32' and platform_machine == 'AMD64' and {_CPYTHON}",
            ("win_amd64",),
        ),
    }
)
"""By the end of the bundle's name. A Mac with an Intel processor is not among them: cryptography
has no wheel for it."""


def collect(folder: Path, pins: Sequence[str], platform: str, python: str) -> None:
    """Download the wheels that one minor version of Python needs on a platform into a new folder.

    Args:
        folder: Must not exist yet.
        pins: Requirements with exact versions and markers; nothing that they need is added.
        platform: A key of `PLATFORMS`.
        python: Such as `3.12`.

    Raises:
        subprocess.CalledProcessError: A package has no such wheel, or cannot be downloaded.
        SystemExit: A wheel is another file than our lock has.
    """
    folder.mkdir()
    chosen = PLATFORMS[platform]
    form = ("--quiet", "--no-deps", "--no-annotate", "--no-header")
    target = ("--python-platform", chosen.uv, "--python-version", python)
    wanted = run_uv("pip", "compile", *form, *target, "-", given="\n".join(pins))
    listed = folder / "wanted.txt"
    listed.write_text(wanted, encoding="utf-8")
    tags = [word for tag in chosen.tags for word in ("--platform", tag)]
    abis = [word for abi in (_abi(python), "abi3", "none") for word in ("--abi", abi)]
    subprocess.run(  # noqa: S603 - every argument is written by us
        [
            *(sys.executable, "-m", "pip", "download", "-qq", "--disable-pip-version-check"),
            *("--no-deps", "--only-binary", ":all:", "--implementation", "cp"),
            *("--python-version", python, *abis, *tags, "--dest", folder, "-r", listed),
        ],
        cwd=ROOT,
        check=True,
    )
    listed.unlink()
    refuse_foreign_wheels(folder)


def refuse_foreign_wheels(folder: Path) -> None:
    """Do nothing, unless the folder has a wheel whose hash is not in our lock.

    Raises:
        SystemExit: It has.
    """
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    known = {wheel["hash"] for package in lock["package"] for wheel in package.get("wheels", ())}
    for wheel in sorted(folder.glob("*.whl")):
        if f"sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}" not in known:
            raise SystemExit(f"{wheel.name} is not the file of uv.lock")


def _abi(python: str) -> str:
    return f"cp{python.replace('.', '')}"
