from pathlib import Path
from uuid import uuid4

from sifaka.storage.tool_backed import MilvusToolIndex
from tests.stubs.tool_sessions import shared_milvus_mcp


def make(folder: Path) -> MilvusToolIndex:
    return MilvusToolIndex(shared_milvus_mcp(), prefix=f"t{uuid4().hex}")
