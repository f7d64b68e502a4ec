"""Whether a reply in words means the object that it holds: an example, a denial or a quote is none.

What can be said around an answer has no end, so words before it have to introduce it: `Here is my
review:`, `So`, or nothing. Words after it are free, unless they go on in the same line or take it
back. A model whose answer is turned down here is asked once more.
"""

import re

_MARKUP = r"answer|output|result|response|verdict|review|json"
_OPENING = re.compile(
    rf"(?:<(?:{_MARKUP})>)?\s*(?:(?:`{{1,3}}|~~~)(?:json)?)?[\s\"'(\[*]*$", re.IGNORECASE
)
_CLOSING = re.compile(
    rf"[\s\"')}}\]*]*(?:`{{1,3}}|~~~)?(?:[ \t]*</(?:{_MARKUP})>)?[*.! \t]*", re.IGNORECASE
)
_SENTENCE = re.compile(r"(?<=[.!?。！？])(?<!e\.g\.)(?:\s+|$)|\n\s*\n|\n(?=\W*[A-Z#])")
_CLAUSE = re.compile(r"[,;–—]\s*|(?<=\w) - ")
_NAMES = (
    r"verdict|answer|review|judgment|judgement|opinion|assessment|evaluation|result|conclusion|"
    r"decision|"
    r"output|response|json|reply|feedback|critique|report|analysis|object|claims|queries|questions|"
    r"plan|criteria|antwort|urteil|bewertung|ergebnis|réponse|avis|résultat|respuesta|veredicto|"
    r"resultado|risposta|giudizio|risultato|resposta|答案|评价|評價|判断|判斷|结论|結論|结果|結果|"
    r"回答|評価|판정|답변|ответ|вердикт|результат"
)
_WORDLESS = "[\\s:*\"'(\\[\ud800-\udfff✅-]*"
_CONNECTED = r"(?:and|so|thus|therefore|hence|then|overall|finally|sure|certainly|okay|ok|yes|done)"
_NAMED = (
    rf".{{0,60}}(?:{_NAMES})\w*(?:\W+\w+){{0,6}}\W*[:：]"
    rf"|(?:my|the|this) (?:\w+ )?(?:{_NAMES}) is|(?:\w+ )?(?:{_NAMES})"
    r"|here (?:it is|you (?:are|go))|(?:here(?:['’]s| is| are)|this is|below)\b.{0,80}[:：]"
)
_INTRODUCED = re.compile(
    rf"{_WORDLESS}|#{{1,6}} \w.*|(?=.*\w)\W*(?:{_CONNECTED}\b\W*)*(?:{_NAMED})?\W*",
    re.IGNORECASE | re.DOTALL,
)
_DENIED = re.compile(
    r"\b(?:not|never|cannot|no|none|nobody|nothing|neither|nor|without|refuse|rather than|wrong|"
    r"instead of|nicht|kein\w*|nie|pas|jamais|nunca|jamás)\b|n['’]t\b|[不没別非]|\bне\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:examples?|e\.g|for instance|such as|something like|would|could|might|may|should|if|"
    r"imagine|suppose\w*|assumes?|assumed|assuming|assumption|pretend\w*|hypothe\w*|theory|illustrat\w*|samples?|demo|placeholder|"
    r"possible|options?|format(?=\W*$)|template|schema|looks?|like|please|expected|default|todo|"
    r"tells?|told|asks|wants?|says?|said|instruct\w*|suggest\w*|another|other|previous\w*|earlier|"
    r"user|author|reviewer|beispiel|exemple|ejemplo|esempio|exemplo|пример)\b"
    r"|[?？]|例如|比如|示例",
    re.IGNORECASE,
)
"""Words by which an object is an example, a condition, or what another has said."""
_I_DO_NOT = (
    r"\b(?:i|we) (?:can(?:no|['’])t|could ?n['’]t|could not|won['’]t|will not|would ?n['’]t|"
    r"would not|do ?n['’]t|do not|refuse|decline|am (?:not|unable|sorry)|"
    r"mean\b|meant|have (?:not|n['’]t) (?:read|seen|been)|haven['’]t|take (?:that|it) back)"
    r"|\bi['’]m (?:not|unable|sorry)|kann (?:ich )?(?:das |es )?nicht|ne peux pas|no puedo"
)
_TAKEN_BACK = re.compile(
    r"\A\W*(?:actually|wait|hm+|not\b|but\b|however|correction|edit\b|oops|or\b|unless|except|though|"
    r"although|rather|nein|non\b|不|no\b(?!\W+(?:\w+\W+){0,3}"
    r"(?:changes?|mistakes?|issues?|errors?|problems?|needs?|objections?)\b))"
    rf"|{_I_DO_NOT}"
    r"|\b(?:is|was) (?:only |just |merely )?(?:an example|not my|not mine|a placeholder|a joke|"
    r"wrong(?!\W+\w))|\b(?:sorry|scratch that|(?:ignore|disregard) (?:that|this|it|the above)|"
    r"never ?mind|just kidding|on (?:second thought|reflection))\b|不能|无法",
    re.IGNORECASE,
)
_ELSE = re.compile(r"\n|<\||</s>|,?\s*[{\[]")
_WORD = re.compile(r"\w")
_NEAR = 2_000
"""Characters before an object that are looked at."""


def is_meant(before: str, after: str) -> bool:
    """True for an object whose reply has these words before and after it."""
    near = _OPENING.sub("", before[-_NEAR:])
    sentence = _SENTENCE.split(near)[-1] if _WORD.search(near) else near
    clause = _CLAUSE.split(sentence)[-1]
    if not _INTRODUCED.fullmatch(clause) or _DENIED.search(clause) or _SUPPOSED.search(sentence):
        return False
    closing = _CLOSING.match(after)
    assert closing is not None, "it may be empty"
    rest = after[closing.end() :]
    # What goes on in the same line, such as `?` or `is an example`, is no sentence of its own.
    if rest and "\n" not in closing[0] and not (rest[0].isupper() or _ELSE.match(rest)):
        return False
    return not _TAKEN_BACK.search(rest)
