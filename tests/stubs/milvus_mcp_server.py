"""A stand-in for zilliztech's `mcp-server-milvus`, which is not on PyPI, over a Milvus Lite file.

Written from that server's documentation (https://github.com/zilliztech/mcp-server-milvus): the
names of its tools, of their arguments and the form of their answers, errors as text included. It
has the tools that `MilvusToolIndex` calls. With `--without-delete` its `milvus_delete_entities`
fails as in the releases before the fix of issue 78.
"""

import argparse
import importlib
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

from mcp.server.mcpserver import MCPServer

P = ParamSpec("P")
pymilvus: Any = importlib.import_module("pymilvus")  # it has no types


def answering(tool: Callable[P, str]) -> Callable[P, str]:
    """The tool, with what fails as a text that begins with `Error: `."""

    @wraps(tool)
    def answer(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return tool(*args, **kwargs)
        # This is how the server answers whatever goes wrong.
        except Exception as error:  # noqa: BLE001
            return f"Error: {error}"

    return answer


def make_server(client: Any, *, deletes: bool) -> MCPServer:
    """The server over a client of Milvus."""
    server = MCPServer("Milvus", log_level="ERROR")

    @server.tool()
    @answering
    def milvus_list_collections() -> str:
        return f"Collections in database:\n{', '.join(client.list_collections())}"

    @server.tool()
    @answering
    def milvus_create_collection(
        collection_name: str,
        auto_id: bool = True,
        field_schema: list[dict[str, Any]] | None = None,
        index_params: list[dict[str, Any]] | None = None,
        other_kwargs: dict[str, Any] | None = None,
    ) -> str:
        if collection_name in client.list_collections():
            raise ValueError(f"Collection '{collection_name}' already exists")
        schema = pymilvus.MilvusClient.create_schema(auto_id=auto_id)
        for field in field_schema or ():
            datatype = getattr(pymilvus.DataType, field["datatype"].upper())
            schema.add_field(**{**field, "datatype": datatype})
        indexes = pymilvus.MilvusClient.prepare_index_params()
        for index in index_params or ():
            indexes.add_index(**index)
        client.create_collection(
            collection_name, schema=schema, index_params=indexes, **(other_kwargs or {})
        )
        return f"Collection '{collection_name}' created successfully"

    @server.tool()
    @answering
    def milvus_load_collection(collection_name: str, replica_number: int = 1) -> str:
        client.load_collection(collection_name, replica_number=replica_number)
        return (
            f"Collection '{collection_name}' loaded successfully with {replica_number} replica(s)"
        )

    @server.tool()
    @answering
    def milvus_insert_data(collection_name: str, data: list[dict[str, Any]]) -> str:
        result = client.insert(collection_name, data)
        return f"Data inserted into collection '{collection_name}' with result: {result}"

    @server.tool()
    @answering
    def milvus_query(
        collection_name: str,
        filter_expr: str,
        output_fields: list[str] | None = None,
        limit: int = 10,
    ) -> str:
        rows = client.query(
            collection_name, filter=filter_expr, output_fields=output_fields, limit=limit
        )
        head = f"Query results for '{filter_expr}' in collection '{collection_name}':\n\n"
        return head + "".join(f"{row}\n\n" for row in rows)

    @server.tool()
    @answering
    def milvus_delete_entities(collection_name: str, filter_expr: str) -> str:
        if not deletes:
            raise ValueError("Delete failed: The type of expr must be string")
        result = client.delete(collection_name, filter=filter_expr)
        return f"Entities deleted from collection '{collection_name}' with result: {result}"

    return server


def main() -> None:
    """Serve on stdio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--milvus-uri", required=True)
    parser.add_argument("--without-delete", action="store_true")
    options = parser.parse_args()
    client = pymilvus.MilvusClient(uri=options.milvus_uri)
    make_server(client, deletes=not options.without_delete).run(transport="stdio")


if __name__ == "__main__":
    main()
