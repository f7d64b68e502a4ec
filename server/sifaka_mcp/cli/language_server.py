"""`sifaka lsp`: what `check` finds, shown by an editor while one writes, with its fixes.

It speaks the Language Server Protocol (3.17) over standard input and output.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, partial
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from sifaka.editor.isolated import run_editor
from sifaka.editor.rules import STYLE
from sifaka.errors import ConfigurationError, PluginError
from sifaka.record.rule_choice import RuleChoice
from sifaka.tasks.check import CheckedText, Diagnostic, check
from sifaka.text.formats import Format, recognise
from sifaka_mcp.cli.check.files import project_of
from sifaka_mcp.cli.check.reports import help_uri
from sifaka_mcp.settings.project_rules import NAMES, ProjectRules
from sifaka_mcp.settings.sources import FILE, read_content

SHOW_STYLE = "sifaka.showStyle"
"""The command that shows the stock prose of a document until it is changed."""
_PAUSE = 0.2
"""Seconds without a change after which a document is checked."""
_MOST = 500
"""Findings of a document that are shown."""
_COMMENTS = {
    Format.LATEX: " % sifaka: ignore {rule}",
    Format.MDX: " {{/* sifaka: ignore {rule} */}}",
    Format.TEXT: " # sifaka: ignore {rule}",
}
_NOTHING = CheckedText(text="", diagnostics=()), Format.SOURCE
_COMMENT = " <!-- sifaka: ignore {rule} -->"


class Editor(LanguageServer):
    """The server of one editor."""

    @cached_property
    def found(self) -> dict[str, tuple[CheckedText, Format]]:
        """What was found in each open document, and the format that it was read as."""
        return {}

    async def check(self, uri: str, *, style: bool = False) -> None:
        """Show what is found in a document, unless it has changed meanwhile."""
        document = self.workspace.get_text_document(uri)
        number, text = document.version, document.source
        try:
            result = await run_editor(text, partial(_check_text, text, Path(document.path), style))
        except (ConfigurationError, PluginError) as error:
            message = f"{document.filename}: {error}"
            self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Warning, message))
            result = _NOTHING
        if number == self.workspace.get_text_document(uri).version:
            self.found[uri] = result
            diagnostics = [_to_lsp(document, each) for each in result[0].diagnostics[:_MOST]]
            self.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(uri, diagnostics, version=number)
            )


def language_server() -> Editor:
    """A server, which `start_io` lets serve standard input and output until they are closed."""
    server = Editor("sifaka", version("sifaka-mcp"))
    kinds = [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.Source]
    server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)(_on_open)
    server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)(_on_change)
    server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)(_on_close)
    server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(kinds))(_list_actions)
    server.command(SHOW_STYLE)(_show_style)
    return server


async def _on_open(server: Editor, params: lsp.DidOpenTextDocumentParams) -> None:
    await server.check(params.text_document.uri)


async def _on_change(server: Editor, params: lsp.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    await asyncio.sleep(_PAUSE)
    if params.text_document.version == server.workspace.get_text_document(uri).version:
        await server.check(uri)


def _on_close(server: Editor, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    server.found.pop(uri, None)
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


async def _show_style(server: Editor, uri: str) -> None:
    await server.check(uri, style=True)


def _list_actions(server: Editor, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """What can be done about the findings in a range."""
    uri = params.text_document.uri
    document = server.workspace.get_text_document(uri)
    report, format = server.found.get(uri, _NOTHING)
    words = cache(partial(_find_words, Path(document.path).parent))  # read when one is to be added
    actions: list[lsp.CodeAction] = []
    if report.text == document.source:
        for each in report.diagnostics[:_MOST]:
            shown = _to_lsp(document, each)
            if shown.range.start <= params.range.end and shown.range.end >= params.range.start:
                actions += _list_repairs(document, each, shown, format, words)
    style = lsp.Command("Show stock prose", SHOW_STYLE, arguments=[uri])
    return [*actions, lsp.CodeAction(style.title, lsp.CodeActionKind.Source, command=style)]


def _check_text(text: str, path: Path, style: bool) -> tuple[CheckedText, Format]:
    """The findings in a text by the rules of its project, and its format."""
    rules = ProjectRules().rules_in(path.parent)
    format = rules.format_of(path) or recognise(text, path)
    if rules.excluded.covers(path):
        return CheckedText(text=text, diagnostics=()), format
    choice = rules.choice_for(path)
    if style:
        choice = RuleChoice(
            select=choice.select | {STYLE}, ignore=choice.ignore - {STYLE}, words=choice.words
        )
    return check(text, choice, format=format), format


def _to_lsp(document: TextDocument, finding: Diagnostic) -> lsp.Diagnostic:
    certain, uncertain = lsp.DiagnosticSeverity.Warning, lsp.DiagnosticSeverity.Information
    return lsp.Diagnostic(
        lsp.Range(
            _position(document, finding.line, finding.start, finding.column),
            _position(document, finding.end_line, finding.end, finding.end_column),
        ),
        finding.message,
        severity=certain if finding.safe else uncertain,
        code=finding.rule,
        code_description=lsp.CodeDescription(help_uri(finding.rule)),
        source="sifaka",
    )


def _position(document: TextDocument, line: int, offset: int, column: int) -> lsp.Position:
    """A position in the units that the client counts by."""
    before = document.source[offset - column + 1 : offset]
    return lsp.Position(line - 1, document.position_codec.client_num_units(before))


# --- what can be done ---


def _list_repairs(
    document: TextDocument,
    finding: Diagnostic,
    shown: lsp.Diagnostic,
    format: Format,
    words: Callable[[], "_WordTable"],
) -> Iterator[lsp.CodeAction]:
    """The fix of a finding, a comment that ignores its rule, and adding its word to the project."""
    if finding.fix is not None:
        title = f"Replace by {finding.fix!r}" if finding.fix.strip() else "Take it out"
        fix = lsp.WorkspaceEdit({document.uri: [lsp.TextEdit(shown.range, finding.fix)]})
        yield _make_action(title, shown, fix, is_preferred=finding.safe)
    if format is not Format.RST:  # whose comments are paragraphs
        rest = document.source[finding.start :].splitlines()[0]
        end = shown.range.start.character + document.position_codec.client_num_units(rest)
        here = lsp.Position(shown.range.start.line, end)
        comment = _COMMENTS.get(format, _COMMENT).format(rule=finding.rule)
        edits = {document.uri: [lsp.TextEdit(lsp.Range(here, here), comment)]}
        title = f"Ignore {finding.rule} in this line"
        yield _make_action(title, shown, lsp.WorkspaceEdit(edits))
    if finding.category == "spelling":
        title = f"Add {finding.quote!r} to the words of the project"
        yield _make_action(title, shown, _add_word(finding.quote, *words()))


def _make_action(
    title: str, shown: lsp.Diagnostic, edit: lsp.WorkspaceEdit, *, is_preferred: bool = False
) -> lsp.CodeAction:
    return lsp.CodeAction(
        title=title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[shown],
        is_preferred=is_preferred,
        edit=edit,
    )


_WordTable = tuple[Path, Sequence[str], int]
"""A file, its lines, and the number of those up to the header of its table of words, or 0."""


def _find_words(folder: Path) -> _WordTable:
    """The table with the words of the project of a folder, in a file that may have to be made."""
    rules = ProjectRules().rules_in(folder).folder
    for name, keys in NAMES.items():
        header, lines = f"[{'.'.join(keys)}]", _read_lines(rules / name)
        if header in lines:
            return rules / name, lines, lines.index(header) + 1
    file = project_of(folder) / FILE
    return file, _read_lines(file), 0


def _add_word(word: str, file: Path, lines: Sequence[str], start: int) -> lsp.WorkspaceEdit:
    """The change that adds a word to a table, or the table to its file."""
    at, text = lsp.Position(len(lines), 0), f"\n[check]\nwords = [{json.dumps(word)}]\n"
    if start:
        at, text = lsp.Position(start, 0), f"words = [{json.dumps(word)}]\n"
        table = takewhile(lambda line: not line.startswith("["), lines[start:])
        for number, line in enumerate(table, start):
            if match := re.match(r"words\s*=\s*\[", line):
                at, text = lsp.Position(number, match.end()), f"{json.dumps(word)}, "
                break
    uri = file.absolute().as_uri()
    document = lsp.OptionalVersionedTextDocumentIdentifier(uri=uri)
    created = lsp.CreateFile(uri, options=lsp.CreateFileOptions(ignore_if_exists=True))
    edits = [lsp.TextEdit(lsp.Range(at, at), text)]
    return lsp.WorkspaceEdit(document_changes=[created, lsp.TextDocumentEdit(document, edits)])


def _read_lines(file: Path) -> Sequence[str]:
    return read_content(file).decode().splitlines() if file.is_file() else ()
