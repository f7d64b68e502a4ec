"""Redis and Milvus through the MCP servers in front of them."""

from sifaka.storage.tool_backed.caller import ToolCaller
from sifaka.storage.tool_backed.milvus import MilvusToolIndex
from sifaka.storage.tool_backed.redis import RedisToolStorage

__all__ = ["MilvusToolIndex", "RedisToolStorage", "ToolCaller"]
