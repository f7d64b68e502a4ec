"""Reference pages made of what the program itself says."""

import inspect
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import anyio
from mcp import Client
from mcp_types import Tool

import sifaka
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.cli import COMMANDS, parser_for
from sifaka_mcp.settings import TOOLSETS, Settings

_COLUMNS = "88"
_TOPICS: Mapping[str, tuple[str, ...]] = {
    "Tasks": ("improve", "improve_sync", "validate", "critique", "verify"),
    "The loop": ("Chain", "Budget", "create_pydantic_chain", "Inquiry", "Host"),
    "Results": (
        "RunResult", "Hunk", "Issue", "ValidationReport", "ValidationResult", "Review",
        "CriticFeedback", "Submission", "Usage",
    ),
    "The record": ("Run", "Thought", "ThoughtReference", "ToolCall", "Document", "ChainEvent",
        "Replay"),
    "Validators": (
        "max_words", "min_words", "Validator", "LengthValidator", "RegexValidator",
        "ContentValidator", "FormatValidator", "ReadabilityValidator", "PreserveValidator",
        "LanguageValidator", "ClassifierValidator", "GuardrailsValidator", "EvidenceValidator",
        "ReportValidator",
    ),
    "Critics": (
        "Critic", "LintCritic", "StyleCritic", "SelfRefineCritic", "ReflexionCritic",
        "ConstitutionalCritic", "SelfRAGCritic", "SelfConsistencyCritic", "MetaRewardingCritic",
        "NCriticsCritic", "PromptCritic", "EvidenceCritic",
    ),
    "Models": ("Model", "Generation", "Judge", "RetrievalAugmentedModel"),
    "Retrievers": (
        "Retriever", "MockRetriever", "InMemoryRetriever", "CachedRetriever", "ThoughtRetriever",
    ),
    "Evidence": (
        "Adapter", "Adapters", "open_adapters", "EvidencePipeline", "EvidenceRetriever",
        "EvidenceChecker", "ClaimChecker", "CheckOptions", "ClaimReport",
    ),
    "Research": ("Researcher",),
    "Stores": (
        "open_store", "ThoughtStore", "MemoryStorage", "SQLiteStorage", "FileStorage",
        "RedisStorage", "MilvusStorage", "CachedStorage", "CachedCheckpointStorage", "Embedder",
    ),
    "Plugins": ("Plugins",),
    "Errors": (
        "SifakaError", "ConfigurationError", "ValidationError", "CriticError", "ModelProviderError",
        "BudgetExceeded", "OperationTimeout", "MemoryLimitError", "StorageError", "ThoughtNotFound",
        "VersionConflict", "AppendRefused", "Fenced", "StaleRevision", "SourceError",
        "EmbeddingError", "PluginError", "RetryConfig", "with_retry",
    ),
}  # fmt: skip
"""What can be imported from `sifaka`, by topic."""
_FROM_MODULES = {
    "Evidence": (
        "sifaka.evidence.sources.in_process.InProcessAdapter",
        "sifaka.evidence.documents.SearchFilters",
        "sifaka.record.claims.ClaimVerdict",
        "sifaka.record.claims.ClaimEvidence",
        "sifaka.record.claims.Claim",
    ),
    "Research": (
        "sifaka.tasks.research",
        "sifaka.research.protocol.Desk",
    ),
}
"""What users need besides, by the topic and the page that tells about it."""


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
    for name in COMMANDS:
        told = parser_for([name])[1].format_help().rstrip()
        parts += [f"## sifaka {name}", f"```text\n{told}\n```"]
    return "\n\n".join(parts) + "\n"


def python() -> str:
    """What can be imported from `sifaka`, by topic, and what users need from its modules."""
    listed = {name for names in _TOPICS.values() for name in names}
    if strange := listed ^ set(sifaka.__all__):
        raise ValueError(f"in one of docs/site/reference.py and sifaka.__all__ only: {strange}")
    parts = ["# Python", "Everything that can be imported from `sifaka`, by topic."]
    for topic, names in _TOPICS.items():
        parts.append(f"## {topic}")
        for name in names:
            found = getattr(sifaka, name)
            if inspect.isclass(found) or inspect.isfunction(found):
                parts.append(f"::: {found.__module__}.{found.__qualname__}")
            else:
                parts.append(f"### {name}\n\n`{found!r}`")
        if topic in _FROM_MODULES:
            parts.append(f"What it does: [{topic}](../{topic.lower()}.md). From its modules:")
            parts += [f"::: {name}" for name in _FROM_MODULES[topic]]
    return "\n\n".join(parts) + "\n"


async def _listed() -> list[Tool]:
    with tempfile.TemporaryDirectory() as home:
        server = SifakaServer(Settings(home=Path(home), toolsets=tuple(TOOLSETS)))
        async with Client(server) as client:
            return (await client.list_tools()).tools


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())
