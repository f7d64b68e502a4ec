"""Reference pages made of what the program itself says."""

import argparse
import importlib
import inspect
import json
import os
import tempfile
from pathlib import Path

import anyio
from mcp import Client
from mcp_types import Tool

import sifaka
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.cli import COMMANDS
from sifaka_mcp.settings import TOOLSETS, Settings

_COLUMNS = "88"
_FROM_MODULES = {
    "Evidence": (
        "sifaka.evidence.sources.catalogue.open_adapters",
        "sifaka.evidence.sources.collection.Adapters",
        "sifaka.evidence.sources.collection.Adapter",
        "sifaka.evidence.sources.in_process.InProcessAdapter",
        "sifaka.evidence.pipeline.EvidencePipeline",
        "sifaka.evidence.documents.SearchFilters",
        "sifaka.evidence.search.EvidenceRetriever",
        "sifaka.record.claims.CheckOptions",
        "sifaka.record.claims.ClaimReport",
        "sifaka.record.claims.ClaimVerdict",
        "sifaka.record.claims.ClaimEvidence",
        "sifaka.record.claims.Claim",
    ),
    "Research": (
        "sifaka.tasks.research",
        "sifaka.record.inquiry.Inquiry",
        "sifaka.research.protocol.Researcher",
        "sifaka.research.protocol.Desk",
    ),
}
"""What users need besides, by the names of the pages that tell about it; each from its module."""


def tools() -> str:
    """Every tool of every toolset as a host receives it."""
    parts = [
        "# Tools as a host sees them",
        "What the server lists, word for word. What it means: [Tools](../tools.md).",
    ]
    for tool in anyio.run(_listed):
        asked = json.dumps(tool.input_schema, indent=2, ensure_ascii=False)
        told = json.dumps(tool.output_schema, indent=2, ensure_ascii=False)
        parts += [
            f"## {tool.name}",
            tool.description or "",
            f"Arguments:\n\n```json\n{asked}\n```",
            f'??? note "Structured result"\n\n{_indented(f"```json{chr(10)}{told}{chr(10)}```")}',
        ]
    return "\n\n".join(parts) + "\n"


def commands() -> str:
    """The help of every command."""
    os.environ["COLUMNS"] = _COLUMNS
    parts = ["# Commands", "What `--help` prints."]
    for name, summary in COMMANDS.items():
        parser = argparse.ArgumentParser(
            prog=f"sifaka {name}", description=f"{summary.capitalize()}."
        )
        importlib.import_module(f"sifaka_mcp.cli.{name}").configure(parser)
        parts += [f"## sifaka {name}", f"```text\n{parser.format_help().rstrip()}\n```"]
    return "\n\n".join(parts) + "\n"


def python() -> str:
    """What can be imported from `sifaka`, each from where it is defined, and what is besides."""
    parts = [
        "# Python",
        "Everything that can be imported from `sifaka`, then what is from modules.",
    ]
    for name in sorted(sifaka.__all__):
        found = getattr(sifaka, name)
        if inspect.isclass(found) or inspect.isfunction(found):
            parts.append(f"::: {found.__module__}.{found.__qualname__}")
        else:
            parts.append(f"## {name}\n\n`{found!r}`")
    for page, names in _FROM_MODULES.items():
        parts.append(f"## {page}\n\nWhat it does: [{page}](../{page.lower()}.md).")
        parts += [f"::: {name}" for name in names]
    return "\n\n".join(parts) + "\n"


async def _listed() -> list[Tool]:
    with tempfile.TemporaryDirectory() as home:
        server = SifakaServer(Settings(home=Path(home), toolsets=tuple(TOOLSETS)))
        async with Client(server) as client:
            return (await client.list_tools()).tools


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())
