from itertools import count
from pathlib import Path

from sifaka.storage.milvus import MilvusIndex
from sifaka.storage.milvus.worker import MilvusWorker
from tests.stubs.milvus_server import server_2_3

_number = count()


class OwnTenants(MilvusIndex):
    """An index that seems empty: new collections take a server seconds, new tenants nothing."""

    def __init__(
        self,
        url: str,
        number: int,
        *,
        tenant: str = "default",
        ttl: float | None = None,
        worker: MilvusWorker | None = None,
    ) -> None:
        super().__init__(url, tenant=f"{number}/{tenant}", ttl=ttl, worker=worker)
        self._number = number

    def scoped(self, tenant: str) -> MilvusIndex:
        return OwnTenants(self._url, self._number, tenant=tenant, ttl=self._ttl, worker=self.worker)


def make(folder: Path) -> MilvusIndex:
    return OwnTenants(server_2_3(), next(_number))


def make_expiring(folder: Path, seconds: float) -> MilvusIndex:
    return OwnTenants(server_2_3(), next(_number), ttl=seconds)
