"""Write the snapshots anew: `make snapshots`."""

import json
from pathlib import Path

import anyio
from mcp import Client

from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import TOOLSETS, Settings
from tests.snapshots.prompts import PAGE, put_into


async def main() -> None:
    """Write the schemas of the tools."""
    folder = Path(__file__).parent / "tools"
    folder.mkdir(exist_ok=True)
    async with Client(SifakaServer(Settings(store="memory:", toolsets=tuple(TOOLSETS)))) as client:
        for tool in (await client.list_tools()).tools:
            schema = tool.model_dump(mode="json", exclude_none=True)
            text = json.dumps(schema, indent=2, ensure_ascii=False)
            (folder / f"{tool.name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    anyio.run(main)
    PAGE.write_text(put_into(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
