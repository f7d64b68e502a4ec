from itertools import count
from pathlib import Path

from sifaka.storage.milvus import MilvusStorage
from tests.storage_contract.kinds import milvus_lite
from tests.stubs.milvus_server import lite_server

_number = count()


def make(folder: Path) -> MilvusStorage:
    return MilvusStorage(lite_server(), prefix=f"contract_{next(_number)}")


def make_expiring(folder: Path, seconds: float) -> MilvusStorage:
    return MilvusStorage(lite_server(), prefix=f"contract_{next(_number)}", ttl=seconds)


damage = milvus_lite.damage
