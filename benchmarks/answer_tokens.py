"""The tokens that a run on a long text costs the agent that calls the tools."""

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp_types import TextContent

from benchmarks.long_document import document
from benchmarks.report import Figure, Report
from benchmarks.tool_tokens import CHARACTERS_PER_TOKEN
from sifaka_mcp.app import SifakaServer
from sifaka_mcp.settings import Settings

WORDS = 5_300
GOAL = 14_000
VOCABULARIES = ("o200k_base", "cl100k_base")
_FOLDER = "TIKTOKEN_CACHE_DIR"
_RULE = {"type": "content", "required": ["reservoir schedule"]}
_WRONG, _RIGHT = "of the reservoir.", "of the reservoir schedule."

_Count = Callable[[str], int]


def measure() -> Report:
    """One improve and two submits, by edits and with whole texts, as each kind of host shows it."""
    figures: list[Figure] = []
    for name, count in _counts().items():
        for how in ("edits", "whole texts"):
            costs = anyio.run(_run, count, how == "edits")
            most = GOAL if how == "edits" and name in VOCABULARIES else None
            for shown, cost in costs.shown.items():
                what = f"{how}, host shows {shown}, {name}"
                figures.append(Figure(what=what, value=cost, unit="tokens", most=most))
    return Report(
        title="answer_tokens: one improve_text and two submit_revision",
        method=f"A text of {WORDS:,} words from a seeded vocabulary, with a repeated word in every "
        "tenth sentence, and a rule that it breaks. Its first revision is turned down, the second "
        "passes. Counted are the arguments as JSON and what hosts show their model of the answers: "
        "structuredContent as JSON, the words of content, or both. By the vocabularies "
        f"{' and '.join(VOCABULARIES)} of tiktoken where {_FOLDER} names a folder for them, which "
        "tiktoken fills from the network and the wheel of litellm holds; else characters / "
        f"{CHARACTERS_PER_TOKEN}, which errs upwards.",
        figures=tuple(figures),
    )


def long_text() -> str:
    """The text: whole sentences, about as many words."""
    words = re.findall(r"\S+\s*", document(WORDS // 450))[:WORDS]
    text = "".join(words)
    return text[: text.rindex(".") + 1]


def _counts() -> Mapping[str, _Count]:
    if _FOLDER not in os.environ:
        return {"estimate": lambda text: round(len(text) / CHARACTERS_PER_TOKEN)}
    import tiktoken

    found = {name: tiktoken.get_encoding(name) for name in VOCABULARIES}
    return {
        name: lambda text, own=vocabulary: len(own.encode(text, disallowed_special=()))
        for name, vocabulary in found.items()
    }


@dataclass(kw_only=True)
class _Costs:
    """The tokens so far, by what a host shows of answers."""

    count: _Count
    shown: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("structuredContent", "content", "both"), 0)
    )

    async def call(self, client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool, which is counted with its arguments."""
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        asked = self.count(json.dumps(arguments, ensure_ascii=False))
        data = self.count(json.dumps(result.structured_content, ensure_ascii=False))
        words = self.count(
            "\n".join(
                each.text if isinstance(each, TextContent) else each.model_dump_json()
                for each in result.content
            )
        )
        for name, answered in zip(self.shown, (data, words, data + words), strict=True):
            self.shown[name] += asked + answered
        return result.structured_content


async def _run(count: _Count, by_edits: bool) -> _Costs:
    costs, text = _Costs(count=count), long_text()
    with tempfile.TemporaryDirectory() as home:
        async with Client(SifakaServer(Settings(home=Path(home)))) as client:
            out = await costs.call(client, "improve_text", text=text, validators=[_RULE])
            assert out["status"] == "needs_revision"
            ids = {"run_id": out["run_id"], "parent_id": out["brief"]["parent_id"]}
            mended = text.replace("the the", "the")
            at = mended.index(_WRONG)
            find = mended[mended.rindex(".", 0, at) + 2 : at] + _WRONG
            assert mended.count(find) == 1
            worse, better = find + find.replace("The", " The The"), find.replace(_WRONG, _RIGHT)
            for changed in (worse, better):
                revision: dict[str, Any] = {"text": mended.replace(find, changed)}
                if by_edits:
                    revision = {"edits": [{"find": find, "replace": changed}]}
                out = await costs.call(client, "submit_revision", **ids, **revision)
                assert out["accepted"] == (changed is better)
            assert out["status"] == "done"
    return costs
