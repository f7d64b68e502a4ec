"""HTML: what of it is not prose."""

import re
from collections.abc import Iterator

from sifaka.text.formats.marks import Closings, Mark, names, with_its_word

_TOKEN = re.compile(
    r"""(?P<comment><!--) | (?P<cdata><!\[CDATA\[) | (?P<script><\?|<%|\{\{|\{%|\{\#)
    | <(?P<close>/?)(?P<name>[a-zA-Z][\w:.-]*)(?P<attributes>(?:[^<>"']|"[^"<]*"|'[^'<]*'|["'])*)>
    | (?P<declaration><![^>]{0,2000}>)
    | (?P<entity>&(?:[a-zA-Z]\w{1,30}|\#\d{1,7}|\#[xX][\da-fA-F]{1,6});)""",
    re.VERBOSE,
)
_CLOSING = {"<?": "?>", "<%": "%>", "{{": "}}", "{%": "%}", "{#": "#}"}
_VERBATIM = names(
    """
    script style pre code kbd samp var tt textarea svg math template noscript object iframe xmp
    plaintext listing programlisting screen literal literallayout command option filename
    userinput computeroutput synopsis cmdsynopsis funcsynopsis envar varname function parameter
    constant classname methodname replaceable type property systemitem markup tag sgmltag
    """
)
"""Elements whose content is not prose; the second half are those of DocBook."""
_IN_A_LINE = names(
    """
    a abbr acronym b bdi bdo big cite del dfn em font i img ins kbd label mark q s small span
    strike strong sub sup time tt u var wbr code samp emphasis link ulink xref literal command
    option filename
    """
)
_SIGNS = names("&nbsp; &amp; &lt; &gt; &quot; &mdash; &ndash; &hellip; &ldquo; &rdquo; &#160;")
"""Entities that are no letters."""


def html(text: str) -> Iterator[Mark]:
    """Tags with their attributes, comments, entities, and elements of code, scripts and styles."""
    closings = Closings(text.lower())
    at = 0
    while match := _TOKEN.search(text, at):
        start, at = match.span()
        if match["entity"]:
            is_sign = match.group() in _SIGNS
            yield Mark(start, at, "style") if is_sign else with_its_word(text, start, at)
            continue
        if match["comment"] or match["cdata"] or match["script"]:
            closing = _CLOSING.get(match.group(), "-->" if match["comment"] else "]]>")
            at = closings.after(closing, at, at)
            yield Mark(start, at, "style" if match["comment"] else "code")
            continue
        name = (match["name"] or "").lower()
        if (
            name in _VERBATIM
            and not match["close"]
            and not (match["attributes"] or "").endswith("/")
        ):
            end = closings.after(f"</{name}", at, len(text))
            close = text.find(">", end) + 1
            if name in {"script", "style"} and not close:
                close = len(text)
            at = max(at, close)
            yield Mark(start, at, "code" if name in _IN_A_LINE else "block")
        else:
            yield Mark(start, at, "style" if name in _IN_A_LINE else "block")
