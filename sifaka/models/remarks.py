"""Remarks around a text: what chat models say to the one who asked, and no part of the text."""

import re

_DONE = (
    "revised|rewritten|re-written|improved|corrected|updated|polished|edited|shortened|rephrased|"
    "reworded|simplified|modified|refined|enhanced|proofread|translated|reorganized|final|finished"
)
_DID = (
    "made|rewrote|wrote|written|rewritten|revised|reworded|rephrased|edited|corrected|changed|"
    "added|removed|replaced|improved|shortened|simplified|adjusted|fixed|deleted|reorganized|"
    "included|incorporated|kept|cut|addressed|tried|aimed|used"
)
_TEXT = (
    "text|version|revision|rewrite|draft|paragraph|passage|sentences?|wording|phrases?|words?|"
    "changes?|edits?|adjustments?|grammar|punctuation|tone|feedback|language|message|content|"
    "structure|verb|comma|heading|task"
)
_OFFER = (
    "chang\\w*|revis\\w*|edit\\w*|adjust\\w*|version\\w*|rewr\\w*|tweak\\w*|modif\\w*|improve\\w*|"
    "refine\\w*|shorter|longer|expand|text|draft|tone"
)

_PREFACES = (
    "voici|hier ist|hier sind|natürlich|gerne|selbstverständlich|bien sûr|aquí (?:está|tienes)|"
    "claro|por supuesto|ecco|certo|aqui está|com certeza|hier is|natuurlijk|oto|oczywiście|вот|"
    "конечно|звичайно|ось|好的|当然|以下是|以下は|もちろん|承知|네[,.! ]|물론|알겠습니다|아래는|다음은|"
    "بالتأكيد|بالطبع|إليك|فيما يلي|elbette|tabii|işte|ज़रूर|बिल्कुल|यहाँ|यह रहा|dưới đây là|đây là|"
    "chắc chắn|แน่นอน|นี่คือ|ต่อไปนี้|בטח|כמובן|הנה|להלן|samozřejmě|jistě|zde je|självklart|här är|"
    "selvfølgelig|her er|tietysti|tässä on|természetesen|íme|desigur|iată|φυσικά|ορίστε|"
    "tentu|berikut(?: adalah)?"
)
"""The beginnings of prefaces in other languages, which end with a colon."""
_CHAT = (
    # Prefaces.
    r"(?:sure|certainly|of course|absolutely|okay|ok|no problem|alright|understood|got it|great|"
    r"gladly|happy to help)(?:[!.,:]?\W*$|[!.,: ]+(?:thing|here|i\b|i'|let|below|the\b|this\b)"
    rf"[^\n]{{0,160}}(?::\W*$|\b(?:here(?:'s| is| are| you go)|help|{_TEXT}|{_DONE})\b))",
    r"(?:here(?:'s| is| are)|below (?:is|are)|(?:the )?following (?:is|are)|this is)\b[^\n.]{0,120}"
    rf"\b(?:{_DONE}|requested|asked for|{_TEXT})\b[^\n.]{{0,120}}:\W*$",
    r"here(?:'s| is| are)\b[^\n.]{0,60}\btranslations?\b[^\n.]{0,60}:\W*$",
    rf"(?:{_PREFACES})[^\n]{{0,120}}[:：]\W*$",
    # Labels and counts that are no part of a text.
    rf"\**(?:{_DONE}) (?:text|version|draft|paragraph|message|sentence)\**\W*$",
    r"(?:word count|total words)\W{0,4}\d+(?: words)?\W*$|\d+ words\)\W*$",
    # Closing remarks.
    r"(?:please )?(?:let me know|feel free|don't hesitate|just (?:ask|tell me)|tell me)\b[^\n]{0,80}"
    rf"\b(?:{_OFFER})\b",
    r"(?:would you like|do you want|shall i|should i|want|if you(?:'d| would)? (?:like|want|need))"
    rf"\b(?=[^\n]{{0,60}}\b(?:me|i|another|more|further|different|any)\b)[^\n]{{0,120}}"
    rf"\b(?:{_OFFER})\b",
    rf"(?:i )?hope (?:this|that|the|my) (?:{_DONE}|{_TEXT}|meets?|fits|works|suits)\b",
    r"as an? (?:ai|large language model|language model|chatbot)\b",
    # Questions in place of a text.
    r"(?:please |kindly |could you )?(?:provide|share|paste|send)(?: me)?(?: with)? (?:the|your|a|some|"
    r"more) (?:\w+ )?(?:text|content|passage|paragraph|document|context|details)\b",
    r"(?:(?:hello|hi)[!,.]? )?how (?:can|may) i (?:help|assist) you\b",
)
"""What is a remark wherever a model writes."""
_GENERIC = (
    r"(?:i )?hope (?:this|that|it) helps\b",
    r"(?:please )?let me know (?:if|how|what)\b",
    r"(?:please )?feel free to\b",
    r"is there anything (?:else|more)\b",
    r"(?:please )?don't hesitate to\b",
    # The same in other languages.
    r"(?:如果|如)(?:您|你)?(?:需要|想|有)[^\n]{0,20}(?:修改|调整|更改|帮助)|希望这?[^\n]{0,8}(?:帮助|满意)",
    r"(?:lass|lassen sie) (?:es )?mich (?:gerne )?wissen\b|ich hoffe, (?:das|dies) hilft\b",
    r"(?:n'hésite[zs]? pas à me (?:dire|demander)|faites-moi savoir|j'espère que cela)\b",
    r"¿?(?:quieres|te gustaría|desea) que (?:haga|cambie|ajuste)\b|espero que (?:esto|te) (?:te )?"
    r"(?:ayude|sirva)\b|(?:avísame|déjame saber) si\b",
    r"(?:fammi sapere se|spero che (?:questo|ti)|me avise se|espero que isso|laat (?:het )?me weten)"
    r"\b",
    r"дай(?:те)? мне знать\b|надеюсь, это\b|если (?:вам )?нужны? (?:ещё |другие )",
    r"他に[^\n]{0,20}(?:修正|変更)[^\n]{0,20}(?:お知らせ|お申し付け)|(?:추가|다른) (?:수정|변경)[^\n]{0,30}말씀",
)
"""What may also stand in a letter."""
_WORK = (
    rf"(?:[^\n.!?]{{0,60}}, )?i(?:'ve| have|'ll| will|'d| would)? ?(?:also |just |only |then )?"
    rf"(?:{_DID}|rewrite|rephrase|revise)\b[^\n]{{0,120}}\b(?:{_TEXT}|following|it to)\b",
    rf"(?:the|this|your|my) (?:{_DONE}) (?:{_TEXT})\b",
    rf"(?:the|this|your) (?:{_TEXT})(?: (?:above|below|here|now))? (?:is|was|were|are|has been|"
    rf"have been|should be|must be|can be|needs to be) (?:now |also |not |already |fully )?"
    rf"(?:{_DONE}|{_DID}|written|complete|clear|concise|formatted|met|as follows|too long|ready)\b",
    rf"[^\n]{{0,40}}\b(?:{_DONE}|better|new|polite|formal|shorter|more \w+) (?:text|version|draft|"
    r"revision|rewrite)\b[^\n]{0,100}:\W*$",
    r"[^\n]{0,60}\bthe original (?:text|sentence|message|version|paragraph|draft)\b",
    rf"(?:tentatively )?(?:{_DONE}|new)(?: (?:text|version|draft|revision|sentence|paragraph))?\W*:\W*$",
    r"(?:changes(?: made)?|edits(?: made)?|explanation|revisions?|notes? on the changes|"
    r"feedback|output|answer|response|result|text|the text(?: is)?|rewrite)\W*:\W*$",
    r"[^\n]{0,80}\b(?:code fence|opening mark|closing mark|points? of the feedback|the feedback (?:"
    r"is|was|has|indicates|says|requires|requested|provided|given|type|again|about|and)|(?:meet|"
    r"meets|met|address|addresses|based on|according to|repetition of|mention of|to|on|after) "
    r"(?:all )?(?:of )?(?:the|this|that|your|previous|requested) (?:previous |requested )?feedback|"
    r"(?:previous|requested|complete) feedback)\b",
    r"(?:no|without) (?:changes|revision|edits) (?:is|are|were|was)? ?(?:needed|required|made)\b",
    r"the above (?:text |version |passage )?(?:is|was|has been) (?:written|rewritten|revised|a)\b",
    r"in this (?:text|version|revision|rewrite|revised \w+|rewritten \w+),",
    r"this (?:is a correction|version|revision|rewrite|revised|rewritten|improvement|change)\b",
    r"to (?:meet|improve|edit|revise|fulfill|address|complete) (?:the|this|these|your|every)"
    r"[^\n]{0,60}\b(?:feedback|text|requirements?|instructions?|task)\b",
    r"you (?:wrote|have written|asked|requested|provided)\b",
    r"(?:when|while) (?:editing|revising|rewriting|asked to|writing|working)\b",
)
"""What is a remark where a model revises a text."""
_FEEDBACK = r"[^\n]{0,200}\b(?:the|this|your|my|of|no|more|previous|a) feedback\b"
_HAS_FEEDBACK = re.compile(
    r"feedback|comment|opinion|survey|review|customer|user|reader", re.IGNORECASE
)
_SUBJECT = (
    r"(?:\w+, )?(?:the|this|your|these|my|both|each) (?:\w+ ){0,2}?(?:text|sentences?|paragraph|"
    r"wording|rewrite|edits?|phrase|grammar|task)\b"
)
_HAS_SUBJECT = re.compile(
    r"\b(?:text|sentence|paragraph|message|wording|phrase|grammar|edit|task)", re.IGNORECASE
)
_REFUSALS_ELSEWHERE = (
    r"(?:es tut mir|tut mir|leider|ich)\b[^\n.]{0,60}\bkann\b[^\n.]{0,60}\bnicht\b[^\n.]{0,60}"
    r"\b(?:helfen|unterstützen|übersetzen|bearbeiten|nachkommen)",
    r"(?:je suis|désolée?|malheureusement)\b[^\n.]{0,40}\bje ne peux pas\b[^\n.]{0,20}"
    r"\b(?:aider|assister|traduire|répondre à cette)",
    r"(?:lo siento|lamentablemente|disculpa)\b[^\n.]{0,40}\bno puedo\b[^\n.]{0,20}"
    r"(?:ayudar|traducir|asistir|cumplir)",
    r"(?:mi dispiace|purtroppo)\b[^\n.]{0,40}\bnon posso\b[^\n.]{0,20}(?:aiutar|tradurre|assister)",
    r"(?:sinto muito|desculpe|lamento|infelizmente)\b[^\n.]{0,40}\bnão (?:posso|consigo)\b[^\n.]{0,20}"
    r"(?:ajudar|traduzir|atender)",
    r"(?:het spijt me|sorry|helaas)\b[^\n.]{0,40}\bkan\b[^\n.]{0,60}\b(?:niet helpen|niet vertalen)",
    r"(?:извините|к сожалению|простите)\b[^\n.]{0,40}\bне могу\b[^\n.]{0,20}(?:помочь|перевести|выполнить)",
    r"(?:很?抱歉|对不起|對不起)[^\n。]{0,20}(?:无法|無法|不能)[^\n。]{0,20}(?:帮|協助|协助|翻译|翻譯|满足)",
    r"申し訳(?:ございません|ありません)[^\n。]{0,40}(?:お手伝い|翻訳|お応え|対応)",
    r"죄송(?:합니다|하지만)[^\n.]{0,40}(?:도와|도움|번역)",
)
_REFUSAL = re.compile(
    r"\A\W*(?:i(?:'m| am)? (?:can(?:no|')t|(?:am )?unable to|(?:am )?not able to|won't|will not) "
    r"(?:assist|help|fulfil+|comply|translate|rewrite|revise|generate|process)\b|"
    + "|".join(_REFUSALS_ELSEWHERE)
    + r")|"
    r"\A\W*(?:i(?:'m| am) (?:very |so )?sorry|sorry|i apologi[sz]e|unfortunately|i (?:can(?:no|')t|"
    r"am unable|am not able|won't)|as an? (?:ai|large language|language))[^\n]{0,120}?(?:as an? (?:"
    r"ai|language|large|chatbot)|language model|(?:can(?:no|')t|unable to|not able to|won't) "
    r"(?:assist|help|fulfil+|comply|complete|rewrite|revise|provide|generate|process|edit)\b)",
    re.IGNORECASE,
)
_LEAD = r"[\s>*_#\-\"“(]{0,20}(?:note:? |p\.?s\.?:? |\d+[.)] )?"


def _one_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(_LEAD + "(?:" + "|".join(patterns) + ")", re.IGNORECASE)


_IN_CHAT, _IN_GENERAL, _ON_WORK = _one_of(_CHAT), _one_of(_GENERIC), _one_of(_WORK)
_ON_FEEDBACK, _ON_TEXT = _one_of((_FEEDBACK,)), _one_of((_SUBJECT,))
_INLINE = re.compile(
    rf"\**(?:(?:{_DONE})(?: (?:text|version|draft|sentence|paragraph))?)\**:\**[ \t]+(?=\S)|"
    r"(?:(?:sure|certainly|of course|absolutely|okay|ok)[!,.] )?(?:here(?:'s| is)) (?:the|a|your|my)"
    rf" (?:\w+ ){{0,3}}?(?:{_DONE}|new|\w+er|more \w+) (?:text|version|draft|revision|sentence|"
    r"paragraph)[^\n:.]{0,80}:[ \t]+(?=\S)",
    re.IGNORECASE,
)
_SALUTATION = re.compile(
    r"\s*(?:dear|hi|hello|hey|good (?:morning|afternoon|evening|day)|to whom|bonjour|ch[eè]re?|"
    r"sehr geehrte|liebe[rs]?|hallo|guten (?:morgen|tag)|hola|estimad[oa]s?|querid[oa]|gentile|car[oa]|"
    r"prezad[oa]|beste|geachte|уважаем\w+|здравствуйте|您好|尊敬的|亲爱的|안녕하세요)(?!\w)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?:])[\"”')]*\s+(?=[A-Z\"“(])")
_MARKS = "’", "'"


class Remarks:
    """The remarks that can be told from a text.

    Args:
        known: All that was given to the model. A kind of remark that stands in it is none.
        revised: The text that the model has revised; empty for a first one.
    """

    def __init__(self, known: str, *, revised: str) -> None:
        kinds = [_IN_CHAT, _IN_GENERAL]
        if revised:
            kinds += [_ON_WORK]
            kinds += [] if _HAS_FEEDBACK.search(revised) else [_ON_FEEDBACK]
            kinds += [] if _HAS_SUBJECT.search(revised) else [_ON_TEXT]
        lines = [_plain(line) for line in known.splitlines()]
        said = [part for line in lines for part in _SENTENCE.split(line)]
        self._kinds = [kind for kind in kinds if not any(map(kind.match, said))]
        self._inline = not any(map(_INLINE.match, said))
        self._refusal = not _REFUSAL.search(_plain(known))
        self._shares: dict[tuple[str, bool], float] = {}

    def is_refusal(self, text: str) -> bool:
        """True when a text is the answer of a model that will not write."""
        return self._refusal and _REFUSAL.search(_plain(text)) is not None

    def preface(self, text: str) -> int:
        """The length of a preface that the first line begins with, before its text."""
        found = _INLINE.match(_plain(text)) if self._inline else None
        return found.end() if found else 0

    def share(self, line: str, *, letter: bool) -> float:
        """The share of a line that is a remark: from its first sentence on, or 0.

        Args:
            line: The line.
            letter: True in a letter, whose own words may be as polite as a model's.
        """
        known = self._shares.get((line, letter))
        if known is None:
            sentences = _SENTENCE.split(_plain(line))
            said = sum(self._is_remark(sentence, letter=letter) for sentence in sentences)
            known = self._shares[line, letter] = said / len(sentences)
        return known

    def tail(self, line: str, *, letter: bool) -> int:
        """The place in a line from which all its sentences are remarks; its length without any."""
        plain = _plain(line)
        starts = [0, *(match.end() for match in _SENTENCE.finditer(plain))]
        at = len(plain)
        for start in reversed(starts):
            if not self._is_remark(plain[start:at], letter=letter):
                break
            at = start
        return at

    def _is_remark(self, sentence: str, *, letter: bool) -> bool:
        kinds = (kind for kind in self._kinds if not (letter and kind is _IN_GENERAL))
        return any(kind.match(sentence) for kind in kinds)


def is_letter(text: str) -> bool:
    """True when a text greets its reader."""
    return _SALUTATION.match(text) is not None


def _plain(text: str) -> str:
    return text.replace(*_MARKS)
