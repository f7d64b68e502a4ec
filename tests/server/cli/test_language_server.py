"""`sifaka lsp`, by a real client of the protocol."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from sifaka_mcp.cli.language_server import SHOW_STYLE

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
TEXT = (
    "😀 We recieve it, a rich tapestry of colours.\n\n"
    "This line ends with the\nthe word that begins the next.\n"
)
WHOLE = lsp.Range(lsp.Position(0, 0), lsp.Position(4, 0))
SECONDS = 60


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Client:
    """An editor with one document."""

    def __init__(self, file: Path) -> None:
        self.uri = file.as_uri()
        self.protocol = LanguageClient("editor", "1")
        self._told = asyncio.Queue[lsp.PublishDiagnosticsParams]()

        def told(params: lsp.PublishDiagnosticsParams) -> None:
            self._told.put_nowait(params)

        self.protocol.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(told)

    async def published(self) -> dict[str, str]:
        """The places of the next findings, by their rules."""
        told = await asyncio.wait_for(self._told.get(), SECONDS)
        return {str(each.code): str(each.range) for each in told.diagnostics}

    async def open(self, text: str) -> dict[str, str]:
        item = lsp.TextDocumentItem(self.uri, "markdown", 1, text)
        self.protocol.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.published()

    def change(self, version: int, text: str) -> None:
        document = lsp.VersionedTextDocumentIdentifier(version, self.uri)
        changes = [lsp.TextDocumentContentChangeWholeDocument(text)]
        params = lsp.DidChangeTextDocumentParams(document, changes)
        self.protocol.text_document_did_change(params)

    async def edits(self) -> dict[str, Any]:
        """What the fixes offered for the document would do, by their titles."""
        params = lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(self.uri), WHOLE, lsp.CodeActionContext([])
        )
        offered = await self.protocol.text_document_code_action_async(params)
        return {
            each.title: each.edit.changes or each.edit.document_changes
            for each in offered or ()
            if isinstance(each, lsp.CodeAction) and each.edit
        }


@asynccontextmanager
async def editor(file: Path) -> AsyncGenerator[Client]:
    client = Client(file)
    protocol: Any = client.protocol
    await protocol.start_io(sys.executable, "-m", "sifaka_mcp.cli", "lsp")
    try:
        params = lsp.InitializeParams(capabilities=lsp.ClientCapabilities())
        await asyncio.wait_for(client.protocol.initialize_async(params), SECONDS)
        client.protocol.initialized(lsp.InitializedParams())
        yield client
    finally:
        await asyncio.wait_for(client.protocol.shutdown_async(None), SECONDS)
        client.protocol.exit(None)
        await asyncio.wait_for(client.protocol.stop(), SECONDS)


async def test_findings_are_shown_with_their_fixes(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    async with editor(tmp_path / "a.md") as client:
        assert await client.open(TEXT) == {
            "misspelling": "0:6-0:13",  # in units of UTF-16, of which the face has two
            "repeated_word": "2:20-3:4",
        }
        edits = await client.edits()
        replaced = edits["Replace by 'receive'"][client.uri]
        assert [(str(each.range), each.new_text) for each in replaced] == [("0:6-0:13", "receive")]
        ignored = edits["Ignore repeated_word in this line"][client.uri]
        assert [(str(each.range), each.new_text) for each in ignored] == [
            ("2:23-2:23", " <!-- sifaka: ignore repeated_word -->")
        ]
        created, added = edits["Add 'recieve' to the words of the project"]
        assert created.uri == added.text_document.uri == (tmp_path / "sifaka.toml").as_uri()
        assert [each.new_text for each in added.edits] == ['\n[check]\nwords = ["recieve"]\n']


async def test_the_rules_of_the_project_and_comments_hold(tmp_path: Path) -> None:
    rules = tmp_path / "pyproject.toml"
    rules.write_text('[tool.sifaka.check]\nignore = ["repetition"]\nwords = ["colours"]\n')
    async with editor(tmp_path / "a.md") as client:
        assert list(await client.open(TEXT)) == ["misspelling"]
        _, added = (await client.edits())["Add 'recieve' to the words of the project"]
        (edit,) = added.edits
        assert (str(edit.range), edit.new_text) == ("2:9-2:9", '"recieve", ')
        client.change(2, TEXT.replace("\n", " <!-- sifaka: ignore -->\n", 1))
        assert await client.published() == {}


async def test_stock_prose_is_shown_on_request(tmp_path: Path) -> None:
    async with editor(tmp_path / "a.md") as client:
        await client.open(TEXT)
        params = lsp.ExecuteCommandParams(SHOW_STYLE, [client.uri])
        await client.protocol.workspace_execute_command_async(params)
        assert "style.puffery" in await client.published()


async def test_only_the_last_change_is_checked_and_source_code_is_not(tmp_path: Path) -> None:
    async with editor(tmp_path / "a.md") as client:
        await client.open(TEXT)
        for version in range(2, 12):
            client.change(version, "We recieve it.\n" * version)
        client.change(12, "It is fine.\n")
        assert await client.published() == {}
    async with editor(tmp_path / "a.py") as client:
        assert await client.open("# We recieve it.\nx = 1\n") == {}
