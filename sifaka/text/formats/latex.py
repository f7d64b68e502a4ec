"""LaTeX: what of it is not prose."""

import re
from collections.abc import Iterator, Mapping

from sifaka.text.formats.marks import Closings, Mark, names, pairs, with_its_word

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
    | (?P<symbol>\\\\(?:\[[^\]\n]{0,20}\])?|\\.|[{}&~^_]|\\\n)
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
_SPACE = re.compile(r"[ \t]*\n?[ \t]*")
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
            kind = match.lastgroup or ""
            self._at = match.end()
            start = match.start()
            if match["comment"] is not None:
                yield Mark(start, match.end(), "style")
            elif match["begin"] is not None:
                yield from self._environment(match)
            elif match["end"] is not None:
                yield Mark(start, match.end())
            elif match["display"] is not None or match["formula"] is not None:
                yield from self._formula(match)
            elif match["accent"] is not None:
                yield with_its_word(text, start, match.end())
            elif match["command"] is not None:
                yield from self._command(match)
            elif kind == "symbol":
                yield Mark(
                    start, match.end(), "block" if match.group().startswith("\\\\") else "style"
                )
            else:
                yield Mark(start, match.end(), "code")

    def _environment(self, match: re.Match[str]) -> Iterator[Mark]:
        name = match["environment"].strip()
        plain = name.rstrip("*")
        end = self._arguments(match.end())
        if plain in _VERBATIM:
            end = self._closings.after(f"\\end{{{name}}}", match.end(), match.end())
        elif plain in _NOT_PROSE:
            end = self._environments.get(match.start(), match.end())
        self._at = end
        yield Mark(match.start(), end)

    def _formula(self, match: re.Match[str]) -> Iterator[Mark]:
        found = _FORMULA_END[match.group()].search(self._text, match.end())
        if found is None or found.group().startswith("\n"):
            yield Mark(match.start(), match.end(), "style")
            return
        self._at = found.end()
        yield Mark(match.start(), self._at, "block" if match["display"] else "code")

    def _command(self, match: re.Match[str]) -> Iterator[Mark]:
        name = match.group()[1:].rstrip("*")
        block = name in _BLOCK_COMMANDS
        kind = "block" if block else "style"
        if name in {"def", "gdef", "edef", "let", "newcommand", "renewcommand", "providecommand"}:
            brace = self._text.find("{", match.end(), match.end() + 200)
            self._at = self._arguments(brace) if brace >= 0 else match.end()
            yield Mark(match.start(), max(self._at, match.end()))
            return
        if name in {"input", "include"} and (file := _FILE.match(self._text, match.end())):
            self._at = file.end()
            yield Mark(match.start(), self._at)
            return
        prose = _PROSE_ARGUMENT.get(name)
        at, number, end = match.end(), 0, match.end()
        while True:
            group = _SPACE.match(self._text, at)
            begin = group.end() if group else at
            opening = self._text[begin : begin + 1]
            if opening == "[" and (close := self._bracket(begin)):
                at = end = close
            elif opening == "{" and prose == number:
                self._at = begin + 1
                yield Mark(match.start(), begin + 1, kind)
                return
            elif opening == "{" and begin in self._braces and begin - at < 2:
                at = end = self._braces[begin]
                number += 1
            else:
                break
        self._at = end
        yield Mark(
            match.start(), end, kind if end == match.end() or block or prose is not None else "code"
        )

    def _arguments(self, at: int) -> int:
        """The offset after the groups that follow directly."""
        while True:
            if self._text[at : at + 1] == "{" and at in self._braces:
                at = self._braces[at]
            elif self._text[at : at + 1] == "[" and (close := self._bracket(at)):
                at = close
            else:
                return at

    def _bracket(self, at: int) -> int:
        """The offset after an optional argument; 0 when it is none."""
        end = self._text.find("]", at, at + 1_000)
        return end + 1 if end >= 0 and not _BLANK.search(self._text, at, end) else 0
