"""One Milvus collection through its MCP tools: rows in, rows out."""

import ast
from collections.abc import Mapping, Sequence
from typing import cast

from sifaka.errors import StorageError
from sifaka.storage.tool_backed.caller import ToolCaller, unexpected

Row = Mapping[str, str | int]
MOST_ROWS = 16_384
"""The largest number of rows that Milvus returns to one query."""
_LONGEST = 65_535
"""The largest VARCHAR, in bytes."""
_SCHEMA: Sequence[Mapping[str, object]] = (
    {"field_name": "id", "datatype": "VARCHAR", "max_length": 64, "is_primary": True},
    {"field_name": "tenant", "datatype": "VARCHAR", "max_length": _LONGEST},
    {"field_name": "run", "datatype": "VARCHAR", "max_length": _LONGEST},
    {"field_name": "seq", "datatype": "INT64"},
    {"field_name": "part", "datatype": "INT64"},
    {"field_name": "parts", "datatype": "INT64"},
    {"field_name": "at", "datatype": "INT64"},
    {"field_name": "line", "datatype": "VARCHAR", "max_length": _LONGEST},
    {"field_name": "data", "datatype": "VARCHAR", "max_length": _LONGEST},
    # Every collection needs one; it is the same in all rows.
    {"field_name": "vector", "datatype": "FLOAT_VECTOR", "dim": 2},
)
_INDEX = {"field_name": "vector", "index_type": "AUTOINDEX", "metric_type": "L2"}


class MilvusRows:
    """The rows of one collection, which is created and loaded on first use."""

    def __init__(self, caller: ToolCaller, collection: str, most: int = MOST_ROWS) -> None:
        self.most = most
        """The rows that are asked for at once; as many may be only a part of them."""
        self._caller = caller
        self.collection = collection
        self._loaded = False

    async def insert(self, rows: Sequence[Row]) -> None:
        """Add rows, in one call."""
        await self._open()
        data = [{**row, "vector": [0.0, 0.0]} for row in rows]
        await self._do(
            "milvus_insert_data",
            {"data": data},
            f"Data inserted into collection '{self.collection}'",
        )

    async def query(
        self, condition: str, fields: Sequence[str], limit: int | None = None
    ) -> Sequence[Row]:
        """The rows that a condition holds for, each once, in no order."""
        await self._open()
        arguments = {
            "filter_expr": condition,
            "output_fields": ["id", *fields],
            "limit": limit or self.most,
        }
        header = f"Query results for '{condition}' in collection '{self.collection}':\n\n"
        answer = await self._do("milvus_query", arguments, header)
        try:
            # A row is a dict as Python prints it, on one line: strings are escaped.
            rows = [
                cast("Row", ast.literal_eval(line))
                for line in answer.removeprefix(header).split("\n\n")
                if line
            ]
        except (ValueError, SyntaxError):
            raise unexpected("milvus_query", answer.removeprefix(header)) from None
        # A row whose insertion was repeated is there twice.
        return list({row["id"]: row for row in rows}.values())

    async def delete(self, condition: str) -> None:
        """Remove the rows that a condition holds for.

        Raises:
            StorageError: The tool failed; it does in some releases of the server.
        """
        await self._open()
        deleted = f"Entities deleted from collection '{self.collection}'"
        await self._do("milvus_delete_entities", {"filter_expr": condition}, deleted)

    async def names(self) -> Sequence[str]:
        """The collections that there are."""
        header = "Collections in database:\n"
        answer = await self._caller.call("milvus_list_collections", {})
        if not answer.startswith(header):
            raise unexpected("milvus_list_collections", answer)
        return answer.removeprefix(header).split(", ")

    async def _open(self) -> None:
        if self._loaded:
            return
        if self.collection not in await self.names():
            created = f"Collection '{self.collection}' created successfully"
            arguments = {
                "auto_id": False,
                "field_schema": _SCHEMA,
                "index_params": [_INDEX],
                # The next reader sees every write.
                "other_kwargs": {"consistency_level": "Strong"},
            }
            try:
                await self._do("milvus_create_collection", arguments, created)
            except StorageError:
                # Another process may have created it meanwhile.
                if self.collection not in await self.names():
                    raise
        loaded = f"Collection '{self.collection}' loaded successfully"
        await self._do("milvus_load_collection", {}, loaded)
        self._loaded = True

    async def _do(self, tool: str, arguments: Mapping[str, object], expected: str) -> str:
        answer = await self._caller.call(tool, {"collection_name": self.collection, **arguments})
        if not answer.startswith(expected):
            raise unexpected(tool, answer)
        return answer
