"""The command that installs an extra is that of the environment."""

import sys
from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka.extras import install, installed, require


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where uv keeps the environments of `uvx`."""
    place = tmp_path / "uv" / "archive-v0" / "x1"
    place.mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(place))
    monkeypatch.setattr(sys, "argv", [str(place / "bin" / "sifaka-mcp")])
    return place


def test_it_is_of_pip_where_pip_can_be_used() -> None:
    assert install("redis") == "pip install 'sifaka-mcp[redis]'"
    assert install("a", "b", beside="c d") == "pip install 'sifaka-mcp[a,b]' c d"


def test_an_environment_of_uvx_is_made_anew(prefix: Path) -> None:
    assert install("http") == "uvx --from 'sifaka-mcp[http]' sifaka-mcp"
    assert install("a", beside="b") == "uvx --from 'sifaka-mcp[a]' --with b sifaka-mcp"


def test_a_tool_of_uv_is_installed_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "uv-receipt.toml").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert install("http", beside="x") == "uv tool install 'sifaka-mcp[http]' --with x"


def test_what_lacks_its_package_is_refused_with_the_command() -> None:
    assert installed("json", "anyio")
    require("this", "none", "json")
    with pytest.raises(ConfigurationError) as caught:
        require("this", "more", "json", "no_such_package")
    assert caught.value.message == "this needs the extra `more`"
    assert caught.value.suggestion == "pip install 'sifaka-mcp[more]'"
