from pathlib import Path

from sifaka.storage.milvus import MilvusIndex


def make(folder: Path) -> MilvusIndex:
    return MilvusIndex(f"milvus:///{folder}.db")


def make_expiring(folder: Path, seconds: float) -> MilvusIndex:
    return MilvusIndex(f"milvus:///{folder}.db", ttl=seconds)
