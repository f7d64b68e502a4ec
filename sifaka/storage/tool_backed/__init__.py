"""Stores that reach a database through the tools of its official MCP server."""

from sifaka.storage.tool_backed.caller import ToolCaller
from sifaka.storage.tool_backed.milvus import MilvusToolStorage
from sifaka.storage.tool_backed.redis import RedisToolStorage

__all__ = ["MilvusToolStorage", "RedisToolStorage", "ToolCaller"]
