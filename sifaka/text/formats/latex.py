"""LaTeX: what of it is not prose."""

import re
from collections.abc import Iterator, Mapping

from sifaka.text.formats.marks import Closings, Kind, Mark, names, pairs, with_its_word

_TOKEN = re.compile(
    r"""(?P<comment>(?<!\\)%[^\n]*)
    | (?P<begin>\\begin[ ]*\{(?P<environment>[^{}\n]{1,60})\})
    | (?P<end>\\end[ ]*\{[^{}\n]{1,60}\})
    | (?P<verb>\\(?:verb|lstinline|mintinline\{\w+\})\*?(?:\[[^\]\n]*\])?
        (?P<bar>[^\w\s*\[{])[^\n]*?(?P=bar))
    | (?P<display>\$\$|\\\[)
    | (?P<formula>\$|\\\()
    | (?P<accent>\\(?:['`^"~=.](?:\{?\\?[a-zA-Z]\}?) | [cvuHkrbdt]\{\\?\w{1,2}\}
        | (?:ss|[oO]|ae|AE|oe|OE|aa|AA|[lL]|[ij])(?:\{\}|(?![a-zA-Z])[ ]?) | -))
    | (?P<command>\\[a-zA-Z@]+\*?)
    | (?P<break>\\\\(?:\[[^\]\n]{0,20}\])?)
    | (?P<symbol>\\.|[{}&~^_]|\\\n)
    | (?P<quote>``[^`'\n]{1,120}'')
    """,
    re.VERBOSE,
)
_VERBATIM = names(
    """
    verbatim Verbatim BVerbatim LVerbatim SaveVerbatim VerbatimOut verbatimtab lstlisting minted
    alltt comment filecontents code Code Sinput Soutput CodeInput CodeOutput pycode luacode
    macrocode tcblisting listing bash shell sourcecode verbatimwrite
    """
)
"""Environments in which no command is one; they end with the first end of that name."""
_NOT_PROSE = names(
    """
    equation align gather multline eqnarray math displaymath flalign alignat split aligned cases
    array matrix dmath dgroup subequations tabular tabularx tabulary tabu longtable longtabu
    supertabular xtabular tblr tikzpicture pgfpicture picture pspicture axis circuitikz tikzcd
    forest asy thebibliography algorithm algorithmic algorithmicx algorithm2e tabbing
    filecontents CD prooftree lilypond music chess syntax grammar sageblock sagesilent scope
    overpic
    """
)
"""Environments whose content is not prose; they may hold each other."""
_PROSE_ARGUMENT: Mapping[str, int] = dict.fromkeys(
    names(
        """
    textbf textit textsl textsc textsf textrm textup textmd textnormal emph underline uline
    section subsection subsubsection chapter part paragraph subparagraph title subtitle caption
    footnote footnotetext thanks mbox fbox centerline leftline rightline enquote marginpar
    marginnote sidenote frametitle framesubtitle alert structure note hl sout textquote
    MakeUppercase uppercase text hbox vbox LARGE Large large small abstract dedication epigraph
    blockquote captionof subcaption textsubscript textsuperscript addchap addsec minisec
    highlight dots quote todo item
    """
    ),
    0,
) | dict.fromkeys(
    ["href", "textcolor", "colorbox", "parbox", "captionof", "foreignlanguage2", "raisebox"], 1
)
"""Commands with an argument of prose, and its number among the arguments in braces."""
_ARGUMENT = re.compile(r"[ \t]*\n?[ \t]*(?:(?P<brace>\{)|\[)")
_FORMULA_END = {
    "$": re.compile(r"(?<!\\)\$|\n[ \t]*\n"),
    "\\(": re.compile(r"\\\)|\n[ \t]*\n"),
    "$$": re.compile(r"(?<!\\)\$\$|\n[ \t]*\n"),
    "\\[": re.compile(r"\\\]|\n[ \t]*\n"),
}
_FILE = re.compile(r"[ \t]+[^\s{}\\%]+")
_BLANK = re.compile(r"\n[ \t]*\n")
_BRACE = re.compile(r"\\.|(?P<open>)\{|(?P<close>)\}|%[^\n]*", re.DOTALL)
_ENVIRONMENT = re.compile(r"\\(?:begin\{(?P<open>[^{}\n]{1,60})|end\{(?P<close>[^{}\n]{1,60}))\}")
_KINDS: Mapping[str, Kind] = {
    "comment": "style",
    "end": "block",
    "break": "block",
    "symbol": "style",
    "verb": "code",
    "quote": "code",
}
_BLOCK_COMMANDS = names(
    """
    section subsection subsubsection chapter part paragraph subparagraph title item caption
    footnote par newpage clearpage frametitle subtitle bigskip medskip smallskip
    """
)


def latex(text: str) -> Iterator[Mark]:
    """Commands, comments, formulas, tables, verbatim, the preamble.

    The arguments of a command are prose only where it is known that they are.
    """
    document = text.find("\\begin{document}")
    start = 0
    if document >= 0 and "\\documentclass" in text[:document]:
        start = document
        yield Mark(0, document)
    yield from _Reader(text, start).marks()


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._at = start
        self._closings = Closings(text)
        self._braces = pairs(text, _BRACE)
        self._environments = pairs(text, _ENVIRONMENT)

    def marks(self) -> Iterator[Mark]:
        text = self._text
        while match := _TOKEN.search(text, self._at):
            start, self._at = match.span()
            if match["environment"]:
                yield self._environment(match)
            elif match["display"] or match["formula"]:
                yield self._formula(match)
            elif match["accent"]:
                yield with_its_word(text, start, self._at)
            elif match["command"]:
                yield self._command(match)
            else:
                yield Mark(start, self._at, _KINDS[match.lastgroup or ""])

    def _environment(self, match: re.Match[str]) -> Mark:
        name = match["environment"].strip()
        plain = name.rstrip("*")
        if plain in _VERBATIM:
            self._at = self._closings.after(f"\\end{{{name}}}", match.end(), match.end())
        elif plain in _NOT_PROSE:
            self._at = self._environments.get(match.start(), match.end())
        else:
            self._at = self._arguments(match.end())
        return Mark(match.start(), self._at)

    def _formula(self, match: re.Match[str]) -> Mark:
        found = _FORMULA_END[match.group()].search(self._text, match.end())
        if found is None or found.group().startswith("\n"):
            return Mark(*match.span(), "style")
        self._at = found.end()
        return Mark(match.start(), self._at, "block" if match["display"] else "code")

    def _command(self, match: re.Match[str]) -> Mark:
        name = match.group()[1:].rstrip("*")
        block = name in _BLOCK_COMMANDS
        prose = _PROSE_ARGUMENT.get(name)
        if name in {"def", "gdef", "edef", "let", "newcommand", "renewcommand", "providecommand"}:
            brace = self._text.find("{", match.end(), match.end() + 200)
            self._at = max(self._arguments(brace), match.end())
            return Mark(match.start(), self._at)
        if name in {"input", "include"} and (file := _FILE.match(self._text, match.end())):
            self._at = file.end()
            return Mark(match.start(), self._at)
        number = 0
        while group := _ARGUMENT.match(self._text, self._at):
            begin = group.end() - 1
            after = self._group_end(begin)
            if group["brace"] and prose == number:
                self._at = begin + 1
                break
            if not after or (group["brace"] and begin - self._at > 1):
                break
            self._at = after
            number += bool(group["brace"])
        styled = self._at == match.end() or prose is not None
        return Mark(match.start(), self._at, "block" if block else "style" if styled else "code")

    def _arguments(self, at: int) -> int:
        """The offset after the groups that follow directly."""
        while at >= 0 and (after := self._group_end(at)):
            at = after
        return at

    def _group_end(self, at: int) -> int:
        """The offset after an argument in braces or brackets; 0 where none begins."""
        if self._text[at : at + 1] != "[":
            return self._braces.get(at, 0)
        end = self._text.find("]", at, at + 1_000)
        return end + 1 if end >= 0 and not _BLANK.search(self._text, at, end) else 0
