from pathlib import Path

from sifaka.storage.milvus import MilvusStorage


def make(folder: Path) -> MilvusStorage:
    return MilvusStorage(f"milvus:///{folder}.db")
