from pathlib import Path

import pytest

from sifaka.errors import ConfigurationError
from sifaka.storage import open_store
from sifaka.storage.memory import MemoryStorage
from sifaka.storage.sqlite import SQLiteStorage


@pytest.mark.parametrize("url", ["memory:", "memory://", "Memory:"])
def test_memory_is_opened_by_name(url: str, tmp_path: Path) -> None:
    assert isinstance(open_store(url, home=tmp_path), MemoryStorage)


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:", "{home}/sifaka.db"),
        ("sqlite:///runs.db", "{cwd}/runs.db"),
        ("sqlite:///data/my runs, all.db", "{cwd}/data/my runs, all.db"),
        ("sqlite:////var/lib/sifaka/50%25.db", "/var/lib/sifaka/50%25.db"),
        ("SQLite:////x.db", "/x.db"),
    ],
)
def test_sqlite_is_opened_at_the_path_of_its_url(url: str, path: str, tmp_path: Path) -> None:
    store = open_store(url, home=tmp_path)

    assert isinstance(store, SQLiteStorage)
    assert str(store.path) == path.format(home=tmp_path, cwd=Path.cwd())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "runs.db",
        "sqlite",
        "sqlite://",
        "sqlite:///",
        "sqlite:runs.db",
        "sqlite://host/runs.db",
        "sqlite:///~/runs.db",
        "sqlite:///runs.db?mode=ro",
        "sqlite:///runs.db,redis://localhost",
        "memory:x",
        "memory:,sqlite:",
        "postgres://localhost/x",
    ],
)
def test_any_other_url_is_refused_by_name(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_store(url, home=tmp_path)

    text = str(caught.value)
    assert repr(url) in text
    assert "sqlite:////absolute" in text
    assert "memory:" in text
    assert "\n" not in text


def test_a_password_in_a_url_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_store("mysql://ann:hunter2@db.example/x", home=tmp_path)

    assert "hunter2" not in str(caught.value)
    assert "db.example" in str(caught.value)
