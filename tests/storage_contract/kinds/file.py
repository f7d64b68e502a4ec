from pathlib import Path

from sifaka.storage.files import FileStorage


def make(folder: Path) -> FileStorage:
    return FileStorage(folder / "runs")
