from pathlib import Path
from uuid import uuid4

from sifaka.storage.tool_backed import MilvusToolStorage
from tests.stubs.tool_sessions import shared_milvus_mcp


def make(folder: Path) -> MilvusToolStorage:
    return MilvusToolStorage(shared_milvus_mcp(), prefix=f"t{uuid4().hex}")
