import os
from pathlib import Path
from uuid import uuid4

import pytest

from sifaka.storage.milvus import MilvusIndex
from tests.storage_contract.indexes.milvus_2_3 import OwnTenants


def make(folder: Path, ttl: float | None = None) -> MilvusIndex:
    uri = os.environ.get("MILVUS_URI")
    if not uri:
        pytest.skip("MILVUS_URI names no server; such as http://localhost:19530")
    return OwnTenants(f"milvus+{uri}", uuid4().int, ttl=ttl)


make_expiring = make
