"""The formats of texts: what each is recognised by, and what of it is not prose.

`recognise` tells the format from a file's name, else from the look of the text. `marks` gives the
stretches that are markup, code or verbatim. One file a format; `READERS` is the catalogue.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from importlib import import_module
from pathlib import PurePath
from typing import Any

from sifaka.text.formats.markup_spans import Mark, view
from sifaka.text.markdown import front_matter
from sifaka.text.prose import Span

__all__ = [
    "READERS",
    "UNCHECKED",
    "Format",
    "Mark",
    "by_name",
    "is_plain",
    "marks",
    "recognise",
    "underlined",
    "view",
]


class Format(StrEnum):
    """The syntax of a text, which decides what of it is prose."""

    MARKDOWN = "markdown"
    MDX = "mdx"
    RST = "rst"
    LATEX = "latex"
    HTML = "html"
    TEXT = "text"
    SOURCE = "source"
    """Code, or markup that has no reader here. Nothing of it is checked."""
    DATA = "data"
    """JSON, YAML, TOML, CSV, settings, XML, catalogues of messages. Nothing of it is checked."""


UNCHECKED: Mapping[Format, str] = {
    Format.SOURCE: "source code is not checked",
    Format.DATA: "data is not checked",
}
"""The formats of which nothing is checked, with the sentence that says so."""

_EXTENSIONS: Mapping[Format, str] = {
    Format.MARKDOWN: "md markdown mdown mkd mkdn qmd rmd",
    Format.MDX: "mdx",
    Format.RST: "rst rest",
    Format.LATEX: "tex latex ltx",
    Format.HTML: "html htm xhtml",
    Format.SOURCE: """
        ada adb adoc ads as asciidoc asm astro awk bas bash bat bats bib c cc cgi cjs cl clj cljs
        cls cmake cmd
        coffee cpp cr cs css csh cts cu cxx d dart diff dpr dtx ejs el elm erb erl ex exs f f03 f08
        f77 f90 f95 fish fs fsx g4 gd glsl go gql gradle graphql groovy h haml hbs hcl hh hpp hrl
        hs hxx idl inc ino ins j2 java jinja jinja2 jl js jsp jsx kt kts less lhs lisp ll lua m m4
        mak man mjs mk ml mli mm mts mustache nim nix njk nu odin org pas patch php phtml pl pm
        podspec pp prisma pro proto ps ps1 psm1 pug purs py pyi pyw pyx q r raku rb re roff rs s
        sass sbt scala scm scss sed sh sol sql sty sv svelte swift tcl texi texinfo tf thrift tpl
        ts tsx twig v vb vbs vhd vhdl vim vue wat wgsl wl xsl xslt y yara zig zsh""",
    Format.DATA: """
        atom avsc cfg cnf conf csv desktop dtd editorconfig env geojson gpx har ics ini ipynb json
        json5 jsonc jsonl kml lock log map ndjson opml plist po pot properties rdf rss service
        srt strings svg toml topojson tsv ttl vcf vtt webmanifest wsdl xliff xlf xml xsd yaml
        yml""",
}
_FILES: Mapping[Format, str] = {
    Format.SOURCE: """
        makefile gnumakefile dockerfile containerfile jenkinsfile vagrantfile rakefile gemfile
        cmakelists.txt meson.build build.bazel justfile procfile .bashrc .profile .zshrc .vimrc""",
    Format.DATA: """
        requirements.txt robots.txt .gitignore .gitattributes .dockerignore .npmrc .editorconfig
        .env codeowners go.sum go.mod pipfile poetry.lock""",
}


def _index_words(listed: Mapping[Format, str]) -> Mapping[str, Format]:
    return {word: format_ for format_, words in listed.items() for word in words.split()}


_BY_EXTENSION = _index_words(_EXTENSIONS)
_BY_NAME = _index_words(_FILES)
_PLAIN = frozenset({"txt", "text"})

READERS = frozenset({Format.MDX, Format.RST, Format.LATEX, Format.HTML})
"""The formats that have a reader of their own, in the module of their name; its patterns are loaded
when it is first used. Markdown's is `sifaka.text.markdown`."""
_TELLTALE = re.compile(r"[^\w\s.,!?()'’“”-]|^\.[A-Z]", re.MULTILINE)
"""A character without which no format but Markdown and plain text comes."""


def recognise(text: str, path: str | PurePath | None = None) -> Format:
    """The format of a text: by the name of its file, else by its look.

    Markdown in doubt, as which plain text reads too; `.txt` is plain text in doubt.
    """
    path = PurePath(path) if path else None
    if path and (named := by_name(path)) is not None:
        return named
    look = Format.MARKDOWN
    if _TELLTALE.search(text):
        # Its patterns are many, and most texts come with the name of their file.
        from sifaka.text.formats.detection import by_look

        look = by_look(text)
    return Format.TEXT if path and look is Format.MARKDOWN and is_plain(path) else look


def marks(text: str, format: Format) -> list[Mark]:
    """What the reader of a format finds that is not prose; nothing where it has none.

    In time that grows with the text's length.
    """
    if format not in READERS:
        return []
    start = front_matter(text)
    body_marks = [
        Mark(start + a, start + b, kind)
        for a, b, kind in _load_reader(format).marks(text[start:])
        if a < b
    ]
    return [Mark(0, start), *body_marks] if start else body_marks


def underlined(text: str, format: Format) -> list[Span]:
    """The places of titles whose underlines have to be as long as they are."""
    return list(_load_reader(format).underlined(text)) if format is Format.RST else []


def _load_reader(format: Format) -> Any:
    return import_module(f"{__name__}.{format}")


def by_name(path: PurePath) -> Format | None:
    """The format that the name of a file shows; None when its text has to tell.

    `page.rst.txt` is RST, as Sphinx names the sources it publishes.
    """
    name = path.name.lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    endings = (ending.removeprefix(".").lower() for ending in reversed(path.suffixes[-2:]))
    return _BY_EXTENSION.get(next((each for each in endings if each not in _PLAIN), ""))


def is_plain(path: PurePath) -> bool:
    """True for the name of a plain text, such as `notes.txt`."""
    return path.suffix.lower().removeprefix(".") in _PLAIN
