"""Single lines that are evidently code, queries, logs, settings, traces or commands."""

import re

from sifaka.editor.language import ENGLISH

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


def is_machine(line: str) -> bool:
    """True when a line alone shows that it holds no sentence."""
    line = line.rstrip()[:500]
    if _MARK.match(line) or not line.strip():
        return False
    if any(p.match(line) for p in (WHOLE, _LOG, _TRACE, _COMMAND, _ELEMENT)):
        return True
    if _QUERY.match(line):
        return True
    return bool(_CODE.match(line)) and not _reads_well(line)


def is_prose(line: str) -> bool:
    """True when a line is a sentence, or a part of one, in a natural language."""
    if _MARK.match(line):
        return not line.lstrip().startswith("#") and _reads_well(line)
    return _reads_well(line) and not (_LOG.match(line) or _TRACE.match(line) or _QUERY.match(line))


def _reads_well(line: str) -> bool:
    words = _WORD.findall(line)
    plain = sum(word.lower() in ENGLISH for word in words)
    symbols = len(_SYMBOLS.findall(line))
    if line.rstrip().endswith(("{", "};", ");")):
        return False
    ends = line.rstrip()[-1:] in {".", "!", "?", ":", ","} or len(words) >= 6
    return ends and plain >= 2 and plain * 5 >= len(words) and symbols * 3 <= plain
