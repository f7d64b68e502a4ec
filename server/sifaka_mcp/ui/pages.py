"""The page as one HTML document: inline script and style, allowed by their digests alone."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Literal

from pydantic_core import to_json

from sifaka.record.run import Run
from sifaka_mcp.ui.page_data import Data, overview_of, version_of

Door = Literal["file", "web", "app"]
"""The place that a page gets its data from: itself, the server it came from, or an MCP host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A document and the policy that it is shown under."""

    html: str
    policy: str
    """The Content-Security-Policy, which is in the document too."""


@cache
def page(door: Door) -> Page:
    """The page without data, for a browser or a host."""
    return _page(door, title="Sifaka", data={})


def page_of(run: Run) -> Page:
    """The page of a run with everything in it, to be kept as a file."""
    overview = overview_of(run)
    versions = {f"version-{n}": version_of(run, n) for n in range(len(run.thoughts))}
    return _page("file", title=f"{overview['title']} · Sifaka", data={"run": overview, **versions})


def _page(door: Door, *, title: str, data: Mapping[str, Data]) -> Page:
    script, style, frame = _read_sources()
    connect = "'self'" if door == "web" else "'none'"
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    parts = {
        "door": door,
        "csp": escape(policy),
        "title": escape(title),
        "style": style,
        "data": "\n".join(_embed_data(name, each) for name, each in data.items()),
        "script": script,
    }
    return Page(html=re.sub(r"\{\{(\w+)\}\}", lambda name: parts[name[1]], frame), policy=policy)


def _embed_data(name: str, data: Data) -> str:
    """Data inside a document: no `<` that could end its element or begin another."""
    text = to_json(data).decode().replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>'


@cache
def _read_sources() -> tuple[str, str, str]:
    """The script, the style and the frame of the page."""
    parts = files("sifaka_mcp.ui").joinpath("page").iterdir()
    texts = {each.name: each.read_text(encoding="utf-8") for each in parts}
    code = "\n".join(texts[name] for name in sorted(texts) if name.endswith(".js"))
    # Without indents and whole lines of comment: a document is fetched more often than read.
    script = re.sub(r"(?m)^[ \t]*//.*\n|^[ \t]+", "", code)
    return f'(() => {{\n"use strict";\n{script}}})();', texts["style.css"], texts["index.html"]


def _digest(source: str) -> str:
    return f"sha256-{b64encode(sha256(source.encode()).digest()).decode()}"
