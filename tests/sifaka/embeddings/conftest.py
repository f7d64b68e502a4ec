from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stubs.static_models import write_static_model

Make = Callable[..., Path]


@pytest.fixture
def make_model(tmp_path: Path) -> Make:
    """Writes a small model into a folder of the test's own."""

    def make(name: str = "tiny", *, dimension: int = 8, seed: int = 1) -> Path:
        return write_static_model(tmp_path / name, dimension=dimension, seed=seed)

    return make
