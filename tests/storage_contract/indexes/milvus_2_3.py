from itertools import count
from pathlib import Path
from typing import Self

from sifaka.storage.milvus import MilvusIndex
from tests.stubs.milvus_server import server_2_3

_number = count()


class OwnTenants(MilvusIndex):
    """An index that seems empty: new collections take a server seconds, new tenants nothing."""

    def __init__(self, url: str, number: int, *, ttl: float | None = None) -> None:
        super().__init__(url, tenant=f"{number}/default", ttl=ttl)
        self._number = number

    def scoped(self, tenant: str) -> Self:
        return super().scoped(f"{self._number}/{tenant}")


def make(folder: Path) -> MilvusIndex:
    return OwnTenants(server_2_3(), next(_number))


def make_expiring(folder: Path, seconds: float) -> MilvusIndex:
    return OwnTenants(server_2_3(), next(_number), ttl=seconds)
