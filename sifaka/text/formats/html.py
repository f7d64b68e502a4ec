"""HTML: what of it is not prose."""

import re
from collections.abc import Iterator

from sifaka.text.formats.marks import Mark, names

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
_LETTERS_BEFORE = re.compile(r"[^\W\d_]{0,60}\Z")
_LETTERS_AFTER = re.compile(r"[^\W\d_]{0,60}")


def html(text: str) -> Iterator[Mark]:
    """Tags with their attributes, comments, entities, and elements of code, scripts and styles."""
    lowered = text.lower()
    unclosed: set[str] = set()
    at = 0

    def after(closing: str, start: int) -> int:
        """The offset after a closing mark; -1 when there is none."""
        end = -1 if closing in unclosed else lowered.find(closing, start)
        if end < 0:
            unclosed.add(closing)
            return -1
        return end + len(closing)

    while match := _TOKEN.search(text, at):
        start, at = match.span()
        if match["entity"]:
            yield _entity(text, match)
            continue
        if match["comment"] or match["cdata"] or match["script"]:
            closing = _CLOSING.get(match.group(), "-->" if match["comment"] else "]]>")
            end = after(closing, at)
            yield Mark(start, max(end, at), "style" if match["comment"] else "code")
            at = max(end, at)
            continue
        name = (match["name"] or "").lower()
        if (
            name in _VERBATIM
            and not match["close"]
            and not (match["attributes"] or "").endswith("/")
        ):
            end = after(f"</{name}", at)
            close = text.find(">", end) + 1 if end >= 0 else 0
            if name in {"script", "style"} and not close:
                close = len(text)
            at = max(at, close)
            yield Mark(start, at, "code" if name in _IN_A_LINE else "block")
        else:
            yield Mark(start, at, "style" if name in _IN_A_LINE else "block")


def _entity(text: str, match: re.Match[str]) -> Mark:
    """A character by its name, with the word it stands in."""
    before = _LETTERS_BEFORE.search(text, max(0, match.start() - 60), match.start())
    following = _LETTERS_AFTER.match(text, match.end())
    assert before is not None
    assert following is not None
    name = match.group()[1:-1]
    if name in {
        "nbsp",
        "amp",
        "lt",
        "gt",
        "quot",
        "mdash",
        "ndash",
        "hellip",
        "ldquo",
        "rdquo",
        "#160",
    }:
        return Mark(*match.span(), "style")
    return Mark(before.start(), following.end(), "code")
