"""The calling agent is the writer, over MCP: `python examples/caller_run.py`.

A real client starts the real server as a host does. Where an agent would think, this script has its
two answers written down: the first is worse than what there is, the second meets every rule.
"""

import asyncio
import os
import sys
from typing import Any

from mcp import Client, StdioServerParameters

SERVER = StdioServerParameters(
    command=sys.executable,
    args=["-m", "sifaka_mcp"],
    env=dict(os.environ) | {"SIFAKA_MODEL": "auto"},
)
TEXT = "We ship ship your order in order to help . You may return it."
RULES: list[dict[str, object]] = [
    {"type": "length", "max_words": 15},
    {"type": "content", "required": ["refund", "30 days"]},
]
ANSWERS = (
    "We ship your order to help. You may return it, and we will think about your money.",
    "We ship your order. Return it within 30 days for a refund.",
)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert result.structured_content is not None, result.content
    return result.structured_content


async def main() -> None:
    async with Client(SERVER) as client:
        run = await call(client, "improve_text", text=TEXT, validators=RULES, effort="quick")
        best = run["text"] or TEXT  # a text that the caller has is not repeated
        print(f"safe edits: {best}")
        for answer in ANSWERS:
            print(f"{run['status']}: {'; '.join(f['message'] for f in run['brief']['failures'])}")
            run = await call(
                client,
                "submit_revision",
                run_id=run["run_id"],
                parent_id=run["brief"]["parent_id"],
                text=answer,
            )
            fate = "accepted" if run["accepted"] else "rejected"
            best = run["text"] or (answer if run["accepted"] else best)
            print(f"submitted: {answer}\n  {fate}: {run['reason']}")
            print(f"  the best so far: {best}")
        print(f"{run['status']} ({run['stop_reason']})")


if __name__ == "__main__":
    asyncio.run(main())
