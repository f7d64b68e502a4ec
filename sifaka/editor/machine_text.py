"""Paragraphs that a machine reads: code, queries, data, logs, settings, traces, shell sessions.

Their lines need no fence to be recognised. Prose has to look like prose to be edited among them.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from sifaka.editor.language import ENGLISH
from sifaka.text.formats.marks import Closings
from sifaka.text.prose import Span

_BARE_HEADER = re.compile(
    r"\s*\"?\w[\w-]*\"?(?:(?P<mark>[,;|])\"?\w[\w-]*\"?)(?:(?P=mark)\"?\w[\w-]*\"?)*\s*$"
)
_QUOTED = re.compile(r"\"[^\"\n]*\"")
_PAIR = re.compile(r"\s*(?:- )?(?P<key>[A-Za-z_][\w./-]*)\s?(?P<mark>[:=])(?:\s+\S.*|\s*)$")
_SECTION = re.compile(r"\s*\[\[?[\w .:/\"-]+\]\]?\s*$")
_REMARK = re.compile(r"\s*[#;]")
_ITEM = re.compile(r"\s*- \S|\s{2,}\S")
_HTTP_KEY = re.compile(
    r"[A-Z][a-z]*(?:-[A-Z][a-z]*)+$|(?:From|To|Cc|Date|Subject|Host|Accept|Server)$"
)


def _are_values(lines: Sequence[str]) -> bool:
    """True when all lines are data: values with separators."""
    head = _BARE_HEADER.match(lines[0])
    if head:
        mark = head["mark"]
        return all(mark in line for line in lines)
    for mark in ",;|" if len(lines) > 1 else "":
        counts = {_fields(line, mark) for line in lines}
        if len(counts) != 1:
            continue
        (count,) = counts
        joined = [_QUOTED.sub('"', line) for line in lines]
        if count >= 2 and not any(f"{mark} " in line for line in joined):
            return True
        if count >= 3 and all(_is_short(line, mark) for line in joined):
            return True
    return False


def _fields(line: str, mark: str) -> int:
    return _QUOTED.sub("", line).count(mark) + 1


def _is_short(line: str, mark: str) -> bool:
    """True when no field is long enough for a clause."""
    fields = line.strip().split(mark)
    return line.rstrip()[-1:] not in {".", "!", "?", ":", ","} and all(
        len(field.split()) <= 2 for field in fields
    )


def _are_settings(lines: Sequence[str]) -> bool:
    """True when all lines are data: keys with values."""
    if not any(":" in line or "=" in line for line in lines):
        return False
    pairs = [match for line in lines if (match := _PAIR.match(line))]
    sections = sum(bool(_SECTION.match(line)) for line in lines)
    others = [line for line in lines if not _PAIR.match(line) and not _SECTION.match(line)]
    if not pairs or len(pairs) + sections < 2:
        return False
    if not all(_REMARK.match(line) or _ITEM.match(line) for line in others):
        return False
    if len(pairs) + sections < len(others):
        return False
    keys = [match["key"] for match in pairs]
    if all(not key[0].isupper() or key.isupper() for key in keys):
        return True
    return any(match["mark"] == "=" for match in pairs) or any(map(_HTTP_KEY.match, keys))


WHOLE = re.compile(
    r"""\s*(?:Traceback[ ]\(most[ ]recent | Exception[ ]in[ ]thread | Caused[ ]by: | goroutine[ ]\d
    | diff[ ]--git | @@[ ]-\d | Index:[ ]\S+$ | (?:\$|>>>|%|❯|➜|C:\\[^>]*>|PS[^>\n]*>)[ ]\S
    | [\w.-]+@[\w.-]+(?:[ :][^\s$\#]*)?[$\#][ ] | \[[\w.-]+@[\w.-]+[ ][^\]]*\][$\#][ ]
    | HTTP/\d(?:\.\d)?[ ]\d{3} | (?:GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)[ ]/\S*
    | \#!\s*/ | \#include\b | <\?(?:php|xml)\b | SELECT[ ].+[ ]FROM[ ] | INSERT[ ]INTO[ ]
    | CREATE[ ](?:OR[ ]REPLACE[ ])?(?:TABLE|VIEW|INDEX|UNIQUE|FUNCTION|TRIGGER|DATABASE)\b
    )""",
    re.VERBOSE,
)
"""A line that makes its whole paragraph a listing."""

CONTINUES = re.compile(
    r"\s*(?:[a-z_]\w*(?:\s+\w+)?|[)\]}]+[;,]?|#.*|//.*|(?:return|print|puts|echo|yield|raise|throw)\b.*)\s*$"
)
"""A line that belongs to a listing when the paragraph above it does."""

_CODE = re.compile(
    r"""\s*(?:
      (?:async[ ]+)?def[ ]+\w+[?!]?\s*(?:\(|$|:) | class[ ]+\w+\s*(?:[({:<]|$) | @\w[\w.]*(?:\(|$)
    | import[ ]+[\w.*{}, ]+(?:[ ]as[ ]\w+)?;?$ | import[ ].*["'] | from[ ]+[\w.]+[ ]+import[ ]
    | (?:package|using|namespace|module|use|require|include)[ ]+[\w.:\\]+(?:;|[ ]?\{|$)
    | (?:const|let|var|val|mut|auto|static|public|private|protected|final|export|extern|int|long
        |double|float|char|bool|boolean|string|void|unsigned|struct|enum|interface|type|trait|impl
        |pub|fn|func|fun|function|sub|Dim|Sub|Function)[ ]+.*(?:[=;({]|\b[ ]?as[ ]\w+$)
    | (?:if|elif|else[ ]if|while|for|foreach|switch|match|case|catch|except|with|unless|until)\b
        .*(?:[)\w\]"'][ ]?\{|\)\s*:|\bthen|;[ ]*do)$
    | (?:if|elif|while)[ ][^,.]*(?:==|!=|<=|>=|[<>]|\bnot[ ]in\b|\bis[ ]not?\b).*:$
    | for[ ][\w, ]+[ ]in[ ][\w.()\[\], ]+:$
    | with[ ].+[ ]as[ ]\w+:$ | except[ ]\w+(?:[ ]as[ ]\w+)?:$
    | (?:fi|done|esac|end|begin|else|try|finally|do|then|except|default|pass|break|continue)[;:]?$
    | \}?\s*(?:else|try|finally|do)\s*\{$
    | (?:return|throw|raise|yield|await|print|puts)\b.*[()\[\]{};=]
    | (?:return|yield|raise)[ ]{2,}\w+$ | [ ]+(?:return|yield|raise)[ ]\S+$
    | (?:return|raise)[ ]\w+$
    | (?:echo|print|puts|printf)[ ]+["'$].* | (?:export|set|setenv)[ ]+[A-Za-z_]\w*[= ]\S+$
    | [\w.$>\[\]"'@*-]+\s*(?:[-+*/|&%.]|\|\||&&|:|<)?=(?!=)\s*\S.*
    | [\w.]+(?:\[[^\]]*\])?\s*<-\s*\S.* | \$\w+\s*=.*
    | [a-z_][\w.]*\([^()]*(?:\([^()]*\)[^()]*)*\)[;,:]?$
    | //.* | /\*.* | \*/ | [)\]}]+[;,)]*$ | [\[{(]$ | \{["'%].* | \[[{"'].* | .*[\w)\]"'][ ]\{$
    | "[^"\n]*"\s*:\s*.* | \((?:def\w*|let|setq|lambda|require|ns|import|print\w*)[ ].*
    | \\[a-z]+[{\[].* | \w+[ ]*::[ ]*\S.* | .*(?:=>|->)[ ]*[\w({\[].*
    | .*[(){}\[\]=<>$].*; | [a-z_]\w*(?:[ ][\w*&]+)?;$ | [\w-]+[ ]*:[ ]*[\w#%.,\"'()/ -]+;$
    | (?:---|\+\+\+)[ ]\S+$
    )\s*$""",
    re.VERBOSE,
)
_QUERY = re.compile(
    r"""\s*(?:SELECT|INSERT[ ]INTO|UPDATE|DELETE[ ]FROM|CREATE|ALTER|DROP|TRUNCATE|MERGE|GRANT
        |REVOKE|EXPLAIN|FROM|WHERE|(?:LEFT|RIGHT|INNER|OUTER|FULL|CROSS)?[ ]?JOIN
        |GROUP[ ]BY|ORDER[ ]BY
        |HAVING|VALUES|LIMIT|UNION|WITH[ ]\w+[ ]AS|PRAGMA
        |RUN|COPY|ADD|ENV|CMD|ENTRYPOINT|WORKDIR|EXPOSE|ARG)[ (]\S.*
    | \s*(?i:select[ ]+(?:\*|[\w.()*]+(?:,[ ]*[\w.()*]+)*)[ ]+from[ ]+[\w.`"]+
        (?:;|$|[ ]+(?:where|join|left|inner|order|group|limit|as)\b.*))
    | \s*(?i:insert[ ]+into[ ]+\w+[ ]*(?:\(|values).* | update[ ]+[\w.]+[ ]+set[ ]+\w+[ ]*=.*
        | delete[ ]+from[ ]+\w+(?:[ ]+where[ ]+\w+[ ]*[=<>].*|;)$
        | (?:create|alter|drop)[ ]+(?:table|view|index|database)[ ]+\w+.*[;(])""",
    re.VERBOSE,
)
_LOG = re.compile(
    r"""\s*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?[ ]
    | [A-Z][a-z]{2}[ ]+\d{1,2}[ ]\d\d:\d\d:\d\d[ ] | \d{1,3}(?:\.\d{1,3}){3}[ ]\S+[ ]\S+[ ]\[
    | [\[<(](?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL
        |info|warn|error|debug)[\])>]
    | (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL|CRITICAL)(?::|[ ]{1,4}[\[(\w])
    | (?:DEBUG|INFO|WARNING|ERROR):\w+:
    | level=\w+ | \[[ ]*\d+\.\d+\][ ] | npm[ ](?:ERR!|WARN)\b | make(?:\[\d+\])?:[ ]\*\*\*
    )""",
    re.VERBOSE,
)
_TRACE = re.compile(
    r"""\s*(?:Traceback[ ]\( | File[ ]"[^"]+",[ ]line[ ]\d | at[ ][\w.$<>/]+[ ]?\([^)]*\)
    | at[ ]\S+:\d+:\d+$ | [\w.]*[a-z](?:Error|Exception|Warning)(?::[ ].*|$) | Caused[ ]by:
    | thread[ ]'[^']*'[ ]panicked | panic: | goroutine[ ]\d | \#\d+[ ]+0x | \.\.\.[ ]\d+[ ]more
    | [\w./-]+\.\w{1,4}:\d+(?::\d+)?:[ ]? | [\w./-]+:[ ]line[ ]\d+:[ ] | \^+~*$
    )""",
    re.VERBOSE,
)
_COMMAND = re.compile(
    r"""\s*(?:sudo[ ]+)?(?:
      (?:git|docker|podman|pip3?|npm|npx|yarn|pnpm|cargo|go|kubectl|helm|brew|apt|apt-get|dnf|uv|poetry
        |systemctl|conda|terraform|aws|gcloud|az|gh|make|mvn|gradle|dotnet)[ ]+
        (?:add|commit|push|pull|clone|checkout|merge|rebase|log|diff|status|branch|run|build|exec|ps|up
        |install|i|uninstall|update|upgrade|remove|test|init|start|stop|restart|enable|apply|get
        |describe|delete|create|sync|compose|ci|publish|login|fetch|reset|stash|tag|show)
        (?:[ ]+(?!(?:the|a|an|is|are|to|and|of|it|that|was)\b)\S+)*
    | (?:curl|wget|ssh|scp|rsync|grep|sed|awk|find|tar|chmod|chown|mkdir|rm|cp|mv|ls|cd|cat|echo
        |export|python3?|node|ruby|perl|bash|sh|zsh|psql|mysql|redis-cli|ping|kill|ps|tail|head|touch|ln|dd
        |openssl|gcc|clang|java|javac|pytest|ruff|mypy)[ ]+
        (?:.*(?:[ ]--?\w|[|<>]|&&|[\"'$*~]|\w/|/\w)|-{1,2}\w).*
    | cd[ ]\S+ | mkdir[ ]\S+ | (?:\S+[ ])+(?:&&|\|\|)[ ].* | (?:[\d*/,-]+[ ]+){5}\S.*
    )$""",
    re.VERBOSE,
)
_ELEMENT = re.compile(
    r"\s*<(?!(?:p|li|h\d|td|th|dt|dd|a|b|i|em|strong|span|div|blockquote|summary|title|label|button"
    r"|caption|figcaption|details|center|u|small|sup|sub)\b)([A-Za-z][\w:.-]*)\b[^>]*>[^<]*</\1>\s*$"
)
_MARK = re.compile(r"\s*(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s")
_WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")
_SYMBOLS = re.compile(r"[{}=<>;\\$|]|\w\(|\w\[|^\s{4,}")


_EVIDENT = (WHOLE, _LOG, _TRACE, _COMMAND, _ELEMENT, _QUERY)
"""Lines that need no second look."""


def is_machine(line: str) -> bool:
    """True when a line alone shows that it holds no sentence."""
    line = line.rstrip()[:500]
    if _MARK.match(line) or not line.strip():
        return False
    if any(pattern.match(line) for pattern in _EVIDENT):
        return True
    return bool(_CODE.match(line)) and not _reads_well(line)


def is_prose(line: str) -> bool:
    """True when a line is a sentence, or a part of one, in a natural language."""
    if _MARK.match(line):
        return not line.lstrip().startswith("#") and _reads_well(line)
    return _reads_well(line) and not (_LOG.match(line) or _TRACE.match(line) or _QUERY.match(line))


def _reads_well(line: str) -> bool:
    end = line.rstrip()
    if end.endswith(("{", "};", ");")):
        return False
    words = _WORD.findall(line)
    if end[-1:] not in {".", "!", "?", ":", ","} and len(words) < 6:
        return False
    plain = sum(word.lower() in ENGLISH for word in words)
    if plain < 2 or plain * 5 < len(words):
        return False
    return len(_SYMBOLS.findall(line)) * 3 <= plain


_PARAGRAPH = re.compile(r"(?:^(?=[^\n]*\S)[^\n]*(?:\n|\Z))+", re.MULTILINE)
_LITERAL = re.compile(r"^[ \t]*(?:[rbfuRBFU]{0,2}(\"{3}|'{3})|(/\*))", re.MULTILINE)
_DEEPER = re.compile(r"(?: {2,}|\t[ \t]*)(?![-*+•]\s|\d{1,3}[.)]\s)")
_TARGET = re.compile(r"[\w.%/-]+:(?: [\w.%/$()-]+)*\s*$")


def machine_text(text: str) -> Iterator[Span]:
    """Spans of whole lines that are not written for people to read as sentences."""
    yield from _literals(text)
    after_machine = False
    for match in _PARAGRAPH.finditer(text):
        lines = match.group().rstrip("\n").split("\n")
        start, end = match.start(), match.start() + len(match.group().rstrip("\n"))
        machine = [is_machine(line) for line in lines]
        if _is_whole(lines, machine, after_machine=after_machine):
            yield start, end
            after_machine = True
            continue
        after_machine = any(machine)
        if after_machine:
            yield from _runs(start, lines, machine)


def _literals(text: str) -> Iterator[Span]:
    """Long strings and comments of programs, from opening to closing mark."""
    closings = Closings(text)
    position = 0
    for match in _LITERAL.finditer(text):
        closing = match.group(1) or "*/"
        if match.start() >= position and (end := closings.after(closing, match.end(), 0)):
            position = end
            yield match.start(), end


def _is_whole(lines: Sequence[str], machine: Sequence[bool], *, after_machine: bool) -> bool:
    """True when all lines of a paragraph are written for a machine."""
    if any(WHOLE.match(line) for line in lines) and not is_prose(lines[0]):
        return True
    if _are_values(lines) or _are_settings(lines) or _is_recipe(lines):
        return True
    evident = sum(machine)
    if evident * 2 >= len(lines) and (evident > 1 or len(lines) <= 2) and not is_prose(lines[0]):
        return True
    if not evident and not after_machine:
        return False
    if any(is_prose(line) for line in lines):
        return False
    if evident:
        return True
    # A blank line inside a listing: what follows goes on where it stopped.
    return after_machine and (
        all(_DEEPER.match(line) for line in lines)
        or (not _MARK.match(lines[0]) and all(CONTINUES.match(line) for line in lines))
    )


def _is_recipe(lines: Sequence[str]) -> bool:
    """True for a rule of a makefile: a target, and commands behind tabs."""
    return (
        len(lines) > 1
        and bool(_TARGET.match(lines[0]))
        and all(line.startswith("\t") for line in lines[1:])
    )


def _runs(offset: int, lines: Sequence[str], machine: Sequence[bool]) -> Iterator[Span]:
    """The evident lines of a mixed paragraph, and what hangs on them."""
    inside = False
    begins = [offset]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    for number, line in enumerate(lines):
        inside = machine[number] or (inside and (bool(_DEEPER.match(line)) or not is_prose(line)))
        if inside:
            yield begins[number], begins[number] + len(line)
    # A comment or a heading of the listing stands right above it.
    for number, pair in enumerate(pairwise(machine)):
        if pair == (False, True) and not is_prose(lines[number]):
            yield begins[number], begins[number] + len(lines[number])
