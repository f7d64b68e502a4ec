from itertools import count
from pathlib import Path

from sifaka.storage.milvus import MilvusIndex
from tests.stubs.milvus_server import lite_server

_number = count()


def make(folder: Path) -> MilvusIndex:
    return MilvusIndex(lite_server(), prefix=f"contract_{next(_number)}")


def make_expiring(folder: Path, seconds: float) -> MilvusIndex:
    return MilvusIndex(lite_server(), prefix=f"contract_{next(_number)}", ttl=seconds)
