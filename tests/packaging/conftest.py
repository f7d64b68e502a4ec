from pathlib import Path

import pytest

from distribution.release import BUILDERS
from tests.packaging.uv import run_uv


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what `make wheel` makes."""
    folder = tmp_path_factory.mktemp("distributions")
    known = ("--build-constraints", str(BUILDERS), "--require-hashes")
    run_uv("uv", "build", "--quiet", *known, "--out-dir", str(folder))
    return folder


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (found,) = distributions.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def published(wheel: Path) -> dict[str, str]:
    """Variables with which uv takes our wheel for the published package.

    A constraint on our name says where it is, so that nothing of that name is asked of the package
    index; others keep what it needs in the versions of our lock.
    """
    path = wheel.with_name("constraints.txt")
    form = ("--no-emit-project", "--no-hashes", "--no-annotate", "--no-header")
    extras = ("anthropic", "google", "openai", "redis")
    chosen = [word for extra in extras for word in ("--extra", extra)]
    pins = run_uv("uv", "export", "--quiet", "--frozen", "--no-default-groups", *chosen, *form)
    path.write_text(f"{pins}sifaka-mcp @ {wheel.as_uri()}\n", encoding="utf-8")
    return {"UV_CONSTRAINT": str(path)}
