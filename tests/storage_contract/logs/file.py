from pathlib import Path

from sifaka.storage.files import FileStorage


def make(folder: Path) -> FileStorage:
    return FileStorage(folder / "runs")


async def damage(log: FileStorage, run_id: str) -> None:
    (file,) = (log.folder / log.tenant).glob(f"{run_id}.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:-1], lines[-1].replace(b'"kind"', b'"kind')]))
