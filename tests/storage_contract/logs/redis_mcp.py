from pathlib import Path
from uuid import uuid4

from sifaka.storage.tool_backed import RedisToolStorage
from tests.stubs.tool_sessions import shared_redis_mcp


def make(folder: Path) -> RedisToolStorage:
    return RedisToolStorage(shared_redis_mcp(), prefix=uuid4().hex)
