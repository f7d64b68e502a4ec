"""The skeleton of a document: its structure and what is exact in it, without the words of prose.

Each is computed by a reader that has nothing to do with ours: docutils, markdown-it, the HTML
parser of Python, pylatexenc; remark where it is installed.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from sifaka.text.formats import Format
from sifaka.text.markdown import front_matter
from tests.formats_corpus.rst_reader import rst

Skeleton = list[object]
PROSE = "words"
"""Stands for any words."""


class Unreadable(Exception):
    """The reader cannot read the document, or is not installed."""


def skeleton(text: str, format_: Format) -> Skeleton:
    """The skeleton of a document.

    Raises:
        Unreadable: The reader refuses the document, or there is none.
    """
    start = front_matter(text)
    try:
        return [text[:start], *_joined(_READERS[format_](text[start:]))]
    except KeyError:
        raise Unreadable(f"no reader of {format_}") from None


def _joined(parts: Iterator[object]) -> Iterator[object]:
    """The parts with one mark where words follow words."""
    last: object = None
    for part in parts:
        if not (part == PROSE and last == PROSE):
            yield part
        last = part


def words(text: str) -> Iterator[object]:
    """The mark of prose, if the text has any."""
    if re.search(r"\w", text):
        yield PROSE


class _Html(HTMLParser):
    """Tags with their attributes; the text of code, scripts and styles as it is."""

    EXACT = frozenset({"script", "style", "pre", "code", "kbd", "samp", "var", "tt", "textarea"})

    def __init__(self, *, entities: bool, attributes: bool = True) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[object] = []
        self._exact: list[str] = []
        self._entities = entities
        self._attributes = attributes

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.append((tag, attrs) if self._attributes else tag)
        if tag in self.EXACT:
            self._exact.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.parts.append(f"/{tag}")
        if self._exact and self._exact[-1] == tag:
            self._exact.pop()

    def handle_data(self, data: str) -> None:
        self.parts += [data] if self._exact else words(data)

    def _entity(self, name: str) -> None:
        if self._entities and name not in {"nbsp", "amp", "quot", "#160"}:
            self.parts.append(f"&{name}")

    handle_entityref = _entity
    handle_charref = _entity

    def handle_comment(self, data: str) -> None:
        self.parts.append(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.parts.append(("declaration", decl))

    def handle_pi(self, data: str) -> None:
        self.parts.append(("instruction", data))


def _html(text: str, *, entities: bool = True) -> Iterator[object]:
    parser = _Html(entities=entities)
    parser.feed(text)
    parser.close()
    yield from parser.parts


def _markdown(text: str) -> Iterator[object]:
    from markdown_it import MarkdownIt

    for token in MarkdownIt("commonmark").enable("table").parse(text):
        yield from _token(token)


def _token(token: Any) -> Iterator[object]:
    if token.type == "inline":
        for child in cast("list[Any]", token.children or []):
            yield from _token(child)
    elif token.type in {"text", "softbreak"}:
        yield from words(token.content)
    elif token.type in {"html_block", "html_inline"}:
        yield from _html(token.content)
    elif token.type == "image":
        yield ("image", dict(token.attrs).get("src"))
    else:
        yield (token.type, token.tag, token.attrs.get("href"), token.info, token.content)


def _latex(text: str) -> Iterator[object]:
    # It has no types.
    walker: Any = import_module("pylatexenc.latexwalker")
    try:
        nodes, _, _ = walker.LatexWalker(text, tolerant_parsing=True).get_latex_nodes()
    except (
        walker.LatexWalkerError,
        RecursionError,
        AttributeError,
        IndexError,
        TypeError,
    ) as error:
        raise Unreadable(str(error)[:80]) from error
    yield from _latex_nodes(nodes)


_EXACT_MACROS = frozenset(
    re.findall(
        r"\S+",
        """cite citep citet ref eqref pageref label input include usepackage RequirePackage
        documentclass url path includegraphics bibliography bibliographystyle index texttt
        newcommand renewcommand def verb lstinline hspace vspace setlength newenvironment
        DeclareMathOperator hyperref autoref cref""",
    )
)
_EXACT_ENVIRONMENTS = frozenset(
    re.findall(
        r"\S+",
        """verbatim lstlisting minted Verbatim equation align gather eqnarray math displaymath
        tikzpicture alltt multline comment filecontents""",
    )
)


def _latex_nodes(nodes: Any) -> Iterator[object]:
    for node in cast("list[Any]", nodes or []):
        if node is None:
            continue
        kind = type(node).__name__
        if kind == "LatexCharsNode":
            yield from words(node.chars)
        elif kind == "LatexCommentNode":
            yield ("comment", node.comment)
        elif kind == "LatexMathNode":
            yield ("math", node.latex_verbatim())
        elif kind == "LatexGroupNode":
            yield "{"
            yield from _latex_nodes(node.nodelist)
            yield "}"
        elif kind == "LatexEnvironmentNode":
            name = node.environmentname
            if name.rstrip("*") in _EXACT_ENVIRONMENTS:
                yield (name, node.latex_verbatim())
                continue
            yield ("begin", name)
            yield from _arguments(node)
            yield from _latex_nodes(node.nodelist)
            yield ("end", name)
        elif kind == "LatexMacroNode":
            if node.macroname in _EXACT_MACROS:
                yield (node.macroname, node.latex_verbatim().rstrip())
                continue
            yield ("macro", node.macroname)
            yield from _arguments(node)
        else:
            yield (kind, getattr(node, "specials_chars", ""))


def _arguments(node: Any) -> Iterator[object]:
    if node.nodeargd is not None:
        for number, argument in enumerate(node.nodeargd.argnlist or []):
            if argument is not None:
                yield ("argument", number)
                yield from _latex_nodes([argument])


def _output(command: list[str], text: str) -> str:
    program = shutil.which(command[0])
    if program is None:
        raise Unreadable(f"{command[0]} is not installed")
    done = subprocess.run(
        [program, *command[1:]],
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    if done.returncode:
        raise Unreadable(done.stderr[:80])
    return done.stdout


REMARK = Path(__file__).with_name("remark.mjs")


def _mdx(text: str) -> Iterator[object]:
    yield from _mdast(json.loads(_output(["node", str(REMARK)], text)))


def _mdast(node: Mapping[str, Any]) -> Iterator[object]:
    kind = node["type"]
    if kind in {"text", "break"}:
        yield from words(str(node.get("value", "")))
        return
    exact = {
        key: value
        for key, value in node.items()
        if key not in {"type", "children", "position", "data", "alt", "title"}
    }
    yield (kind, json.dumps(exact, sort_keys=True))
    for child in node.get("children", []):
        yield from _mdast(child)
    yield f"/{kind}"


_READERS: Mapping[Format, Callable[[str], Iterator[object]]] = {
    Format.MARKDOWN: _markdown,
    Format.HTML: _html,
    Format.RST: rst,
    Format.LATEX: _latex,
    Format.MDX: _mdx,
}
