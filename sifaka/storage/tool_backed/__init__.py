"""A log and an index that reach a database through the tools of its official MCP server."""

from sifaka.storage.tool_backed.caller import ToolCaller
from sifaka.storage.tool_backed.milvus import MilvusToolIndex
from sifaka.storage.tool_backed.redis import RedisToolLog, RedisToolStorage

__all__ = ["MilvusToolIndex", "RedisToolLog", "RedisToolStorage", "ToolCaller"]
