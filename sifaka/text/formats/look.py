"""Recognises a format by the look of the text alone, and only where it is plain."""

import json
import re
from collections.abc import Callable, Mapping
from itertools import islice

from sifaka.text.formats.format import Format
from sifaka.text.markdown import front_matter

_LOOKED_AT = 200_000
"""Characters of a text that are looked at."""
_TAGS = 50
"""Elements of MDX that are looked at."""

TELLTALE = re.compile(r"[^\w\s.,!?()'’“”-]|^\.[A-Z]", re.MULTILINE)
"""A character without which no format but Markdown and plain text comes."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--(?:(?!-->).){0,5000}-->\s*)?"
    r"<(?:!doctype html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_ROFF = re.compile(r"\s*(?:[.'](?:\\\\\".*|TH|Dd|SH|so)\b.*\n){1,3}", re.IGNORECASE)
_XML = re.compile(r"\s*<\?xml\s")
_HEADING = re.compile(r"^ {0,3}#{1,6} +\S", re.MULTILINE)
_CATALOGUE = re.compile(
    r'^msgid ".*\n(?:(?:"|msgid_plural ").*\n)*msgstr(?:\[\d\])? "', re.MULTILINE
)
"""An entry of gettext."""
_LATEX = re.compile(r"^[ \t]*\\(?:documentclass\b|begin\{document\})", re.MULTILINE)
_LATEX_LINE = re.compile(
    r"^[ \t]*\\(part|chapter|(?:sub){0,2}section|(?:sub)?paragraph|label|input|usepackage|item"
    r"|caption|maketitle|newcommand|begin|end)(?:\*?[{\[]|[ \t]|$)",
    re.MULTILINE,
)
_RST = re.compile(
    r"^\.\. (?:[a-zA-Z][\w:.+-]{0,60}::(?:[ \t]|$)|_[^\n:]{1,100}:(?:[ \t]|$)|\|[^|\n]{1,100}\| )"
    r"|(?<![`\w])`[^`<\n]{1,200}<[^`>\n]{1,300}>`__?(?!\w)"
    r"|(?<![\w`:]):(?:ref|doc|class|func|meth|mod|attr|data|exc|obj|term|option|file|code|math|pep|rfc"
    r"|(?:py|c|cpp|js|rst|std):\w{1,20}):`[^`\n]{1,200}`",
    re.MULTILINE,
)
_RST_TITLE = re.compile(
    r"^(?P<title>[^\s=~\-`'\"^*+#<>][^\n]{0,200})\n(?P<line>([=~^*+])\3{3,})[ \t]*$", re.MULTILINE
)
_RST_LITERAL = re.compile(
    r"[^:\n]::[ \t]*\n[ \t]*\n[ \t]+\S|^::[ \t]*$|(?<!`)``[^`\n]+``(?!`)", re.MULTILINE
)
_ASCIIDOC = re.compile(
    r"^\[(?:source|listing|NOTE|TIP|WARNING|IMPORTANT|CAUTION|quote|verse|cols=|options=|stem)"
    r"[^\]\n]{0,200}\][ \t]*$"
    r"|^(?:include|image|ifdef|ifndef|ifeval|endif|video|toc)::[^\s\[]{0,200}\[[^\]\n]{0,200}\]"
    r"|^\|={3,}[ \t]*$|<<[\w.#-]{1,80}(?:,[^>\n]{1,80})?>>|\blinkgit:[\w-]+\[\d\]",
    re.MULTILINE,
)
_ASCIIDOC_SIGN = re.compile(
    r"^\+$|^\[[^\]\n]{1,80}\]$|^[\w<'`-][^\n]{0,80}::$|^-{4,}\n(?=[^\n])", re.MULTILINE
)
_ASCIIDOC_ITEM = re.compile(r"^\+$|^--?\w[^\n]{0,80}::$|^\.\.\.\.+$", re.MULTILINE)
_SETEXT = re.compile(r"^\w[^\n]{0,100}\n([-=~])\1{2,}$", re.MULTILINE)
_ASCIIDOC_TITLE = re.compile(r"^(={1,6}) \S[^\n]{0,200}(?<!=)[ \t]*$", re.MULTILINE)
_ORG = re.compile(
    r"^[ \t]*#\+(?:begin_\w+|end_\w+|title|author|options|startup|date|property|header|name|caption"
    r"|include|setupfile|filetags|todo|tblfm|results|language)(?:[: \[]|$)"
    r"|^\*+ \S.*\n[ \t]*:PROPERTIES:[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_MDX_MODULE = re.compile(
    r"^(?:import\b[^\n]{0,300}\bfrom\s+['\"][^'\"\n]+['\"];?|import\s+['\"][^'\"\n]+['\"];?"
    r"|export (?:const|default|function|let)\b.*)$",
    re.MULTILINE,
)
_MDX_TAG = re.compile(r"^ {0,8}<([A-Z][\w.]{0,60})(?:[\s/>]|$)", re.MULTILINE)
_DEFINITION = re.compile(
    r"""^[ \t]*(?:
      (?:async[ ]+)?def[ ]+\w+\(.*|class[ ]+\w+[ ]*(?:\(.*\))?:|from[ ][\w.]+[ ]import[ ].+
    | import[ ][\w.]+(?:[ ]as[ ]\w+)?(?:,[ ]?[\w.]+)*;? | \#include[ ]*[<"].+ | \#define[ ]\w+.*
    | (?:export[ ]+)?(?:default[ ]+)?(?:async[ ]+)?function\*?[ ]*\w*\(.*
    | import[ ].+[ ]from[ ]['"].+
    | (?:export[ ]+)?(?:const|let|var)[ ]+[\w{}\[\], :]+=.* | use[ ]+[\w:{}, *]+;
    | (?:pub(?:\(\w+\))?[ ]+)?(?:fn|struct|enum|impl|trait|mod)\b.*[{;(] | func[ ].*\{
    | package[ ][\w.]+;?
    | (?:public|private|protected|static|final|abstract|virtual|inline|extern|unsigned)\b.*[{;(]
    | (?:int|void|char|bool|double|float|long|size_t|auto|struct|typedef)[ ][\w*&: ,<>\[\]]*[({;=].*
    | namespace[ ][\w:]+[ ]*\{ | using[ ][\w.: =]+; | require(?:_relative)?[ ]['"].+
    | module[ ][A-Z]\w*
    | (?:local[ ]+)?function[ ][\w.:]+\(.*\) | \w+\(\)[ ]*\{ | <\?php.* | @\w+(?:\.\w+)*(?:\(.*\))?
    )[ \t]*$""",
    re.VERBOSE | re.MULTILINE,
)
_CODE_LINE = re.compile(
    r"""[ \t]*(?:
      .*[;{},(\[] | [\])}]+[;,]?.* | (?://|/\*|\*|\#|--|;).* | ["'@].*
    | [\w.\[\]"'*, ]+[-+*/|&%:]?=[^=].*
    | (?:return|raise|throw|yield|await|break|continue|pass|else|try|finally|do|end|fi|done)\b.*
    | (?:if|elif|while|for|with|except|switch|case|match|catch|when|unless)\b.*[:{)\w]
    | (?:begin|esac)\b.* | [\w.]+\(.*\)
    )[ \t]*""",
    re.VERBOSE,
)
_BEGINNINGS: Mapping[re.Pattern[str], Format] = {
    _HTML: Format.HTML,
    _XML: Format.DATA,
    _ROFF: Format.SOURCE,
    re.compile("#!"): Format.SOURCE,
}


def by_look(text: str) -> Format:
    """The format that a text shows; Markdown, as which plain text reads too, in doubt."""
    start = front_matter(text)
    head = text[start : start + _LOOKED_AT].replace("\r\n", "\n").removeprefix("\ufeff")
    if not start:
        if is_json(text):
            return Format.DATA
        for beginning, format_ in _BEGINNINGS.items():
            if beginning.match(head):
                return format_
    bare = _without_fences(head)
    for format_, test in _TESTS.items():
        if test(bare):
            return format_
    return Format.MARKDOWN


def _without_fences(text: str) -> str:
    """The text without fenced blocks, in which any format may be shown."""
    kept: list[str] = []
    mark = ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if mark:
            if fence and fence.group(1).startswith(mark):
                mark = ""
        elif fence:
            mark = fence.group(1)
        else:
            kept.append(line)
    return "\n".join(kept)


def is_json(text: str) -> bool:
    """True when the text is a JSON object or array."""
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _latex(text: str) -> bool:
    if _LATEX.search(text):
        return True
    found = [match.group(1) for match in _LATEX_LINE.finditer(text)]
    if len(set(found)) < 2 or _HEADING.search(text):
        return False
    return len(found) >= 3 and len(found) * 20 >= text.count("\n")


def _mdx(text: str) -> bool:
    names = {match.group(1) for match in islice(_MDX_TAG.finditer(text), _TAGS)}
    # Elements that are closed, or empty ones as in XML; `<name>` alone is a placeholder.
    if names and ("/>" in text or any(f"</{name}>" in text for name in names)):
        return True
    return bool(_MDX_MODULE.search(text) and _HEADING.search(text))


def _rst(text: str) -> bool:
    if _RST.search(text):
        return True
    others = (_HEADING, _ASCIIDOC, _ASCIIDOC_SIGN)
    if any(sign.search(text) for sign in others) or not _RST_LITERAL.search(text):
        return False
    return any(
        len(match["title"].rstrip()) <= len(match["line"]) for match in _RST_TITLE.finditer(text)
    )


def _asciidoc(text: str) -> bool:
    titles = {len(match.group(1)) for match in _ASCIIDOC_TITLE.finditer(text)}
    if _ASCIIDOC.search(text):
        return bool(titles) or not _HEADING.search(text)
    if _ASCIIDOC_ITEM.search(text) and _SETEXT.search(text):
        return True
    return len(titles) >= 2


def _source(text: str) -> bool:
    """True when definitions and lines of code are most of a text."""
    lines = [line for line in text.split("\n") if line.strip()]
    definitions = sum(1 for _ in _DEFINITION.finditer(text))
    if _ORG.search(text):
        return True
    if definitions < 2 or definitions * 60 < len(lines) or _HEADING_AND_PROSE.search(text):
        return False
    code = sum(bool(_DEFINITION.match(line) or _CODE_LINE.fullmatch(line[:500])) for line in lines)
    return code * 5 >= len(lines) * 4 or (code * 5 >= len(lines) * 3 and definitions >= 5)


_HEADING_AND_PROSE = re.compile(
    r"^#{1,6} [A-Z][^\n]*\n\s*\n[A-Z][a-z]+ [^\n;{}=]{40,}$", re.MULTILINE
)

# In the order in which they are asked: what is rarer in other formats comes first.
_TESTS: Mapping[Format, Callable[[str], object]] = {
    Format.DATA: _CATALOGUE.search,
    Format.SOURCE: _source,
    Format.LATEX: _latex,
    Format.MDX: _mdx,
    Format.RST: _rst,
    Format.ASCIIDOC: _asciidoc,
}
