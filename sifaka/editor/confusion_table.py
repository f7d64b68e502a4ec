"""The words that are confused, and the words around them that decide it."""

from dataclasses import dataclass

# What may follow a word that ends its phrase.
_END = r"(?=[.!?,;:)]|\Z| (?:to|for|about|that|when|if|because|and|but|again|now|today|yet|here|there|than)\b)"
_STOP = r"(?=[.!?,;:)]|\s*\Z|\n\s*\n)"
_DET = r"(?:the|a|an|my|your|his|her|its|our|their|this|that|these|those)"
_HIS = r"(?:my|your|his|her|our|their)"
_HIM = r"(?:me|you|him|her|us|them)"
_HE = r"(?:I|he|she|it|we|they|you)"
_PREPOSITION = r"\b(?:of|with|into|under|from|by|within|through|on|at|in|to|about|without)\s"
_STATE = (
    r"(?:cold|hot|good|nice|hard|easy|late|early|important|difficult|dark|great|true|possible"
    r"|impossible|okay|ok|clear|worth|fine|likely|quiet|warm|sad|funny|simple|strange|expensive|cheap|weird|boring|delicious|amazing|awful|terrible|beautiful"
    r"|perfect|crazy|sunny|broken|closed|finished|ready|over|done|here|gone|lovely|dangerous|necessary)"
)
_MOOD = (
    r"(?:late|early|wrong|busy|ill|sick|tired|ready|sure|happy|sad|afraid|alone|passionate"
    r"|interested|able|unable|lucky|crazy|supposed|invited|welcome|hungry|new here|older|younger)"
)
_OWNED = (
    r"(?:keys?|tickets?|house|car|school|room|parents|friends|work|money|shoes|bags|names|phones?|own"
    r"|jobs|lives|minds|hands|eyes|heads|garden|dogs?|cats?|flat|boat|mother|father|coats|home|mistakes)"
)
_ONE_THING = (
    r"(?:car|house|dog|cat|son|daughter|flat|garden|phone|bag|boat|teacher|room|mother|father)"
)
_NOT_A_NOUN = (
    r"(?!(?:a|an|the|not|been|only|just|also|so|very|too|really|all|quite|more|less|worth|possible"
    r"|easy|hard|true|clear|important|good|better|best|time|now|never|always|often|like|because|my|your"
    r"|his|her|our|their|this|that|these|those|what|how|why|where|when|who|no|in|on|at|to|for|from|of"
    r"|by|with|as|about|up|out|off|over|down|and|or|but|free|safe|ok|okay|fine|welcome|right|wrong"
    r"|sure|ready|able|happy|here|there|going|done|gone|made|set|used|running|still|already|probably"
    r"|actually|usually|both|one|some|any|most|almost|even|well|likely|supposed|best|great|nice|bad"
    r"|\w+ing|\w+ed|\w+ly)\b)[a-z]+"
)
_PARTICIPLE = (
    r"(?:been|done|gone|had|said|told|taken|made|seen|known|come|got|given|written|asked|called"
    r"|come|left|bought|brought|missed|thought|waited|helped|used|tried|happened|worked|stayed)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Words that stand for others in a certain place."""

    rule: str
    words: str
    """The words it is about, in lower case."""
    fix: str
    """The words meant; empty when the word is too much."""
    after: str = ""
    """A pattern for the text after the word; its group `also` is replaced as well."""
    before: str = ""
    """A pattern for the text that ends where the word begins."""
    opens: bool = False
    """True when the word must begin a clause."""
    safe: bool = True


def _pairs(rule: str, pairs: str) -> tuple[Confusion, ...]:
    """Words that are always written otherwise, each as `wrong=right`."""
    halves = (pair.split("=") for pair in pairs.split())
    return tuple(
        Confusion(rule=rule, words=wrong, fix=right.replace("_", " ")) for wrong, right in halves
    )


_ITS = (
    Confusion(rule="its", words="its", fix="it's",
              after=r" (?:an?(?! priori)|been|too|raining|snowing|getting|definitely|probably)\b(?!-)"),
    Confusion(rule="its", words="its", fix="it's",
              after=r" not (?!un|in|im|ir|\w+ing\b)\w+"),
    Confusion(rule="its", words="its", fix="it's", after=rf" (?:(?:so|very|really|quite) )?{_STATE}(?=[.!?])"),
    Confusion(rule="its", words="its", fix="it's", opens=True,
              after=rf" (?:(?:so|very|really|quite) )?{_STATE} (?:to (?!use\b|read\b)|that\b|when\b|if\b|because\b|again\b|now\b|today\b|here\b)"),
    Confusion(rule="its", words="its", fix="it's", before=r"\b(?:think|hope|know|say|says|said|sure|glad|feel|believe) ",
              after=rf" (?:(?:so|very|really|quite) )?{_STATE}{_END}"),
    Confusion(rule="its", words="its", fix="it's", opens=True,
              after=r" (?:(?:only|just) (?:an?|the)|all (?:right|good)|me|him|us|them)\b"),
    Confusion(rule="its", words="its", fix="it's", opens=True, after=r" the\b(?!-)"),
    Confusion(rule="its", words="its", fix="it's", before=r"\b(?:think|hope|know|say|says|said|sure|believe|that) ", after=r" the\b(?!-)"),
    Confusion(rule="its", words="its", fix="it's", after=rf" next to {_DET}\b"),
    Confusion(rule="its", words="its", fix="it's", after=rf" to {_STATE}(?=[.!?]| to\b)"),
    Confusion(rule="its", words="it's", fix="its", after=r" own\b(?!-)"),
    Confusion(rule="its", words="he's", fix="his", before=r"\b(?:with|of|to|for|from|by) ", after=rf" {_NOT_A_NOUN}"),
    Confusion(rule="its", words="it's", fix="its", before=_PREPOSITION, after=rf" {_NOT_A_NOUN}"),
    Confusion(rule="its", words="it's", fix="its", after=rf" {_NOT_A_NOUN}",
              before=r"\b(?:closed?|closes|opened|changed?|changes|lost|los[et]s?|wagged|wags|licked|licks|doubled"
              r"|increased|reduced|raised|moved|celebrated|celebrates|completed|launched|updated|improved|reached"
              r"|(?:has|have|had) (?:changed|lost|closed|moved|doubled|improved)|all|both)\s"),
)  # fmt: skip
_YOUR = (
    Confusion(rule="your", words="your", fix="you're",
              after=r" (?:an?|the|too|going to [a-z]+|gonna|not (?!\w+ing\b)|all (?:invited|welcome|right|set))(?!-)(?![\w'’])"),
    Confusion(rule="your", words="your", fix="you're", opens=True,
              after=rf" (?:(?:so|very|really|not|always) )?{_MOOD}(?=[.!?,;)]|\Z| (?:to|for|about|that|in|at|with|again|enough|of|now|today|as|than)\b)"),
    Confusion(rule="your", words="your", fix="you're", before=r"\b(?:hope|know|think|that|see|glad|sure|say|says|said|heard|sorry)\s",
              after=rf" (?:(?:so|very|really|not|always) )?(?:{_MOOD}(?=[.!?,;)]|\Z| (?:to|for|about|in|at|with|again|enough|now|today|as|than)\b)|feeling (?:better|well)\b|doing (?:well|fine|good)\b)"),
    Confusion(rule="your", words="your", fix="you're", after=rf" right{_STOP}|(?: right, )", opens=True),
    Confusion(rule="your", words="your", fix="you're", after=r" (?:right|wrong|late)(?=[,.!?])", opens=True),
    Confusion(rule="your", words="your", fix="you're", opens=True,
              after=r" (?:definitely|probably|certainly) (?:right|wrong|the|a)\b"),
    Confusion(rule="your", words="you're", fix="your", before=rf"(?:{_PREPOSITION}|\bfor\s)", after=rf" {_NOT_A_NOUN}"),
    Confusion(rule="your", words="you're", fix="your", after=rf" {_NOT_A_NOUN}",
              before=r"\b(?:forgot|forgotten|bring|have|had|love|lost|received|got|read|take|enter|check|enjoyed|is this|are these"
              r"|return|finish|wash|clean|sell|buy|show|send|sent|change|keep|put|open|close|carry|use|wear|park|submit|attach)\s"),
    Confusion(rule="your", words="you're", fix="your", opens=True,
              after=r" (?:email|letter|order|account|message|name|car|house|dog|phone) (?:is|was|has|will|arrived|came)\b"),
)  # fmt: skip
_THEIR = (
    Confusion(rule="their", words="their they're", fix="there", opens=True,
              after=r" (?:is|are|was|were|isn['’]t|aren['’]t|wasn['’]t|weren['’]t|has been|have been|will be)\b"),
    Confusion(rule="their", words="their", fix="there", before=r"\bover\s", after=rf"{_STOP}|(?= (?:by|in|at|on|and|now|behind|under|near|next)\b)"),
    Confusion(rule="their", words="their", fix="there", before=r"\b(?:am|is|are|was|were|be|been|go|went|get|got|live|lives|lived|from|out|stay)\s",
              after=rf"{_STOP}|(?= (?:at|by|when|before|soon|again|now|today|tomorrow|until)\b)"),
    Confusion(rule="their", words="there they're", fix="their", before=r"(?<!out )(?<!up )(?<!down )(?<!over )(?<!people )", after=r" own\b"),
    Confusion(rule="their", words="there", fix="their",
              before=r"\b(?:lost|forgot|forgotten|left|sold|bring|brought|with|into|to|of|for|on|in)\s", after=rf" {_OWNED}\b(?! (?:is|are|was|were)\b)"),
    Confusion(rule="their", words="there", fix="their", before=r"(?:\A|[.!?]\s|\n|\b(?:when|because|if)\s)",
              after=rf" {_ONE_THING} (?!there)[a-z]+"),
    Confusion(rule="their", words="they're", fix="their", after=rf" {_ONE_THING}\b(?!-| (?!is\b|was\b|has\b)\w+s\b)"),
    Confusion(rule="their", words="there their", fix="they're", opens=True,
              after=r" (?:going to [a-z]+|not (?:coming|going|here|happy|ready|sure)|both (?:at|in|very)|so (?:happy|sad|nice|tired))\b"),
    Confusion(rule="their", words="their", fix="they're", opens=True, after=r" (?:happy|sure|afraid|ready|tired|busy) (?:with|to|that|of|about|because)\b"),
)  # fmt: skip
_THAN = (
    Confusion(rule="then_than", words="then", fix="than",
              before=r"\b(?:more|less|fewer|better|worse|older|younger|bigger|larger|smaller|longer|shorter|faster"
              r"|slower|higher|lower|heavier|lighter|cheaper|taller|colder|warmer|hotter|earlier|easier|harder|stronger"
              r"|(?:more|less) [a-z]+)\s",
              after=r" (?:me|him|us|them|nothing|ever|expected|usual|half|that|my|his|your|mine|yours|ours|hers|theirs"
              r"|any|most|other|twice|\d|one|two|three|ten|enough|(?:the|a|an) (?:old|other|last|first|rest|year|week|day|month|others)"
              r"|(?:we|I|they|he|she|you|it) (?:thought|expected|had|am|are|is|was|do|did|used))\b"),
    Confusion(rule="then_than", words="then", fix="than", before=r"\b(?:I|would|[’']d|he|she|we|they) rather (?:[a-z]+\s){1,3}", after=r" (?!we|they|he|she|I|it)[a-z]+"),
    Confusion(rule="then_than", words="then", fix="than", before=r"\b(?:other|rather|(?:no|nothing|anything) (?:other|else|more|better|worse))\s", after=r" [a-z]+"),
    Confusion(rule="then_than", words="then", fix="than", before=r"\b(?:more|less|\w+er)\s", after=r" (?:the|a|I|we|they|he|she|you|in|it|last|this)\b", safe=False),
    Confusion(rule="then_than", words="than", fix="then", before=r"\band\s", after=rf" {_HE}\b"),
    Confusion(rule="then_than", words="than", fix="then", before=r"\b[Ff]irst [^.!?]{1,45}, ", after=rf" {_HE}\b"),
)  # fmt: skip
_SOUNDS = (
    Confusion(rule="modal_of", words="of", fix="have",
              before=r"\b(?:could|should|would|might|must|(?:could|should|would|might|must)n['’]?t|(?:could|should|would|might) not)\s",
              after=rf" (?:\w+ed|{_PARTICIPLE}|forgoten|\w+en|won|lost|came|went|took|did|saw)\b"),
    Confusion(rule="to_too", words="to", fix="too", before=r"\b(?:is|are|was|were|it['’]s|be|am|been|looks?|feels?|felt|looked|seems?|seemed|far|much)\s(?:(?:definitely|really|just|also|still|probably|now|way) )?",
              after=rf" (?:late|cold|hot|big|small|heavy|young|old|expensive|difficult|hard|loud|tight|strong|dark|early|far|quick|weak|noisy|dangerous){_END}"),
    Confusion(rule="to_too", words="to", fix="too", after=r" late(?=[.!?,])"),
    Confusion(rule="to_too", words="to", fix="too", before=r"\bthere (?:is|are|was|were)\s", after=r" (?:many|much|few|little)\b"),
    Confusion(rule="to_too", words="to", fix="too", before=r"\b(?:is|was|it['’]s|are|were)\s", after=r" (?:long|short|warm|cool|slow)(?=[.!?,]| (?:and|but)\b)"),
    Confusion(rule="to_too", words="too", fix="to", before=r"\b(?:go|goes|going|went|want|wants|wanted|have|has|had|need|needs|came|come)\s",
              after=rf" (?:{_DET}|go|see|be|buy|get|make|do|eat|know|take|sleep|leave|work)\b"),
    Confusion(rule="confused_word", words="affect", fix="effect", before=r"\b(?:no|strong|big|great|side|little|same|adverse|bad|good|huge|any|the desired)\s", after=r"(?= on\b|[.!?,])"),
    Confusion(rule="confused_word", words="effects", fix="affects", after=rf" {_HIS} [a-z]+|(?= {_HIM}\b)", before=r"(?:\A|[.!?]\s)(?!These|Those|The|Its|Side|All|Both)[A-Z]\w+\s"),
    Confusion(rule="confused_word", words="loose", fix="lose",
              before=r"\b(?:to|will|would|can|could|might|may|don['’]t|didn['’]t|won['’]t|can['’]t|doesn['’]t|not|always|never|I|we|they|often)\s",
              after=rf" (?:{_HIS}|weight|money|time|control|hope|sight|track|interest|the (?:game|keys?|receipt|war|match|bet|money|data))\b"),
    Confusion(rule="confused_word", words="advise", fix="advice", before=r"\b(?:good|some|much|more|of|any|my|your|his|her|useful|bad|best)\s", after=r"(?=[.!?,]| (?:on|about|to|for|from|is|was)\b)"),
    Confusion(rule="confused_word", words="advises", fix="advice", before=r"\b(?:good|some|any|useful|bad)\s"),
    Confusion(rule="confused_word", words="where", fix="were", before=r"(?:\A|[.!?]\s|\n|\b(?:and|but|that|because|when|if|as)\s)(?:we|they)\s", after=r" (?!the \w+ (?:is|was)\b)[a-z]+"),
    Confusion(rule="confused_word", words="where", fix="were", before=r"(?:\A|[.!?]\s|\n)You\s", after=r" [a-z]+"),
    Confusion(rule="confused_word", words="where", fix="was", before=r"\b(?:[Hh]e|[Ss]he|the manager|the boss|the teacher)\s", after=r" (?:strict|not|very|so|in|at|late|tired|happy|the)\b", safe=False),
    Confusion(rule="confused_word", words="were", fix="where", before=r"\b(?:know|knows|knew|wonder|remember|tell me|forgot|no|see|ask|asked|told me)\s", after=r" (?:I|he|she|it|we|they|you|the|my|his|her) [a-z]+"),
    Confusion(rule="confused_word", words="here", fix="hear", before=r"\b(?:can|could|did|do|didn['’]t|couldn['’]t|can['’]t) (?:you|I|we|they|he|she) ", after=rf" (?:{_HIM}|it|the|that|from)\b"),
    Confusion(rule="confused_word", words="here", fix="hear", before=r"\b(?:can|could|couldn['’]t|can['’]t|can not|cannot|could not|didn['’]t)\s", after=rf" (?:{_HIM}|it|the|that|a|any)\b"),
    Confusion(rule="confused_word", words="past", fix="passed", opens=False, before=r"(?:\A|[.!?]\s|\n|, )(?:[Ww]e|[Tt]hey|[Hh]e|[Ss]he|I|[Ii]t) ", after=r" (?:the|a|him|her|them|my|us|by|through)\b"),
    Confusion(rule="confused_word", words="passed", fix="past", before=r"\b(?:drove|walked|went|ran|drive|walk|go|rode|flew|drives|walks|goes|run|running|driving|walking|half)\s", after=r" (?:the|a|me|him|us|them|it|my|her)\b"),
    Confusion(rule="confused_word", words="new", fix="knew", before=r"(?:\A|[.!?]\s|\n|, |\b(?:because|if|but|that) )(?:[Hh]e|[Ss]he|I|[Ww]e|[Tt]hey)\s", after=r" (?:the|that|it|what|how|he|she|you|nothing|about|him|her|they|all|where|who|why|me|us)\b"),
    Confusion(rule="confused_word", words="no", fix="know", before=r"(?:\A|[.!?]\s|\n|n['’]t )(?:I|we|they|you)?\s?", after=r" (?:what|how|where|why|who|were)\b", safe=False),
    Confusion(rule="confused_word", words="accept", fix="except", before=r"\b(?:nobody|everything|anything|nothing|no one)\s", after=r" (?:for|[A-Z][a-z]+|me|him|her|us|them)\b"),
    Confusion(rule="confused_word", words="accept", fix="except", before=r"\b(?:everyone|everybody|all|days?|days of the week)\s", after=r" (?:for|me|him)\b"),
    Confusion(rule="confused_word", words="whose", fix="who's", opens=True, after=r" (?:going to|coming (?:to|with)|been|there\b|that\?|this\?)"),
    Confusion(rule="confused_word", words="who's", fix="whose", opens=True, after=r" [a-z]+ (?:is|are|was) (?:this|that|these|those|it)\b"),
    Confusion(rule="confused_word", words="weather", fix="whether", before=r"\b(?:wonder|wondering|wondered|know|decide|ask|asked|sure|see|doubt|unclear|check|regardless of|depends on|question of)\s",
              after=rf" (?:{_HE}|to|there|or)\b"),
    Confusion(rule="confused_word", words="weather", fix="whether", after=r" or not\b"),
    Confusion(rule="confused_word", words="peace", fix="piece", before=r"\ba\s", after=r" of (?:string|cake|paper|bread|advice|wood|cheese|furniture|music|land|cloth|software|meat|fruit|chalk|news|work)\b"),
    Confusion(rule="confused_word", words="quiet", fix="quite", before=r"\b(?:am|is|are|was|were|be|feel|felt|not|it['’]s)\s", after=r" (?:a|an|surprised|sure|often|good|nice|similar|different|common|right|well|simple|big|sad|happy|interesting|difficult|expensive|tired|hungry)\b"),
    Confusion(rule="confused_word", words="through", fix="threw", before=r"(?:\A|[.!?]\s|\n)(?:He|She|They|We|I) ", after=rf" (?:{_HIS}|the (?:ball|stone|key|keys|book|bag|party)|a (?:ball|stone|party))\b"),
    Confusion(rule="confused_word", words="form", fix="from", before=r"\b(?:comes?|came|coming|far|away|received|letter|email|message|heard|is|am|are)\s", after=rf" (?:{_HIS}|him|them|us|me|there|here|[A-Z][a-z]+)\b"),
    Confusion(rule="confused_word", words="form", fix="from", before=r"\b(?:send|sent|get|got|took|take) (?:it|the \w+|this|that|me|him|them)\s", after=rf" (?:{_HIS}|the|there|here)\b"),
    Confusion(rule="confused_word", words="fro", fix="for", before=r"(?<!\band )", after=r" [a-z]+"),
    Confusion(rule="wrong_verb", words="use", fix="used", before=r"(?:\A|[.!?]\s|\n)(?:I|We|He|She|They) ", after=r" to (?:be|live|have|go|work|play|think|love|like|know|smoke|come|say|believe|hate)\b"),
    Confusion(rule="wrong_verb", words="suppose", fix="supposed", before=r"\b(?:am|is|are|was|were|['’]m|['’]s|['’]re|not)\s", after=r" to\b"),
    Confusion(rule="confused_word", words="principle", fix="principal", after=r" of (?:the|our|my|this|your|his|her|their) (?:school|college|academy)\b"),
    Confusion(rule="confused_word", words="desert", fix="dessert", before=r"\bfavou?rite\s", after=r" (?:is|was)\b"),
    Confusion(rule="wrong_verb", words="send", fix="sent", before=r"\b(?:was|were|been) ", after=r" (?:to|by|on|in|from|out|yesterday|last)\b"),
    Confusion(rule="wrong_verb", words="seen", fix="saw", before=r"(?:\A|[.!?]\s|\n)(?:I|He|She|We|They) ", after=r" [a-z]+", safe=False),
    Confusion(rule="wrong_verb", words="done", fix="did", before=r"(?:\A|[.!?]\s|\n)(?:I|He|She|We|They) ", after=r" (?:it|that|this|the|his|her|my|our|their)\b", safe=False),
    Confusion(rule="wrong_verb", words="am", fix="agree", before=r"\bI ", after=r"(?P<also> agree)(?= with\b|[.!?,])"),
    Confusion(rule="wrong_verb", words="are", fix="agree", before=r"\b(?:we|they|you) ", after=r"(?P<also> agree)(?= with\b|[.!?,])"),
    Confusion(rule="pronoun", words="i", fix="me", before=r"\bbetween (?:you|him|her|them|us|[A-Z][a-z]+) and "),
    Confusion(rule="pronoun", words="i", fix="me", before=r"\b(?:for|to|with|from) (?:my|his|her) [a-z]+ and ", after=r"(?=[.!?,])"),
    Confusion(rule="confused_word", words="granite", fix="granted", before=r"\b(?:take|took|taken|takes|taking) [^.!?]{1,20}for "),
    Confusion(rule="confused_word", words="good", fix="well", after=r"(?=[.!?])",
              before=r"\b(?:sings?|sang|speaks?|spoke|cooks?|dances?|danced|writes?|swims?) (?:[A-Za-z]+ )?(?:very|so|really) "),
    *_pairs("comparative", "bestest=best gooder=better worser=worse funner=more_fun"),
    Confusion(rule="comparative", words="more", fix="easier", after=r"(?P<also> easy)(?= (?:to|than)\b)"),
    *(
        Confusion(rule="comparative", words="more", fix=f"{adjective}er".replace("eer", "er"), after=rf"(?P<also> {adjective})(?= than (?:me|my|his|her|your|our|their|the|you|him|us|them|it|last|before)\b)")
        for adjective in ("old", "young", "tall", "small", "cheap", "fast", "slow", "cold", "warm", "long", "short", "strong", "nice", "large", "rich", "high", "low")
    ),
    Confusion(rule="extra_article", words="the", fix="", before=r"\b(?:had|have|has|eat|ate) ", after=r" (?:breakfast|lunch|dinner)(?= (?:on|at|in|with)\b|[.!?,])", safe=False),
    Confusion(rule="extra_article", words="the", fix="", before=r"\b(?:go|goes|went) to ", after=r" bed(?= (?:at|early|late|before|after)\b|[.!?,])", safe=False),
    Confusion(rule="confused_word", words="mute", fix="moot", before=r"\ba\s", after=r" point\b"),
)  # fmt: skip
_JOINED = (
    *_pairs("joined_words", "alot=a_lot aswell=as_well infact=in_fact incase=in_case atleast=at_least "
            "noone=no_one eventhough=even_though inspite=in_spite ofcourse=of_course thankyou=thank_you "
            "abit=a_bit aslong=as_long"),
    Confusion(rule="joined_words", words="allot", fix="a lot", before=r"\b(?:it|them|you|her|him|me|thanks|much)\s", after=r"(?=[.!?,]| of\b)"),
    Confusion(rule="split_word", words="him", fix="himself", after=r"(?P<also> self)(?![\w'’-])", before=r"\b(?:by|for|to|of|hurt|at|with)\s"),
    Confusion(rule="split_word", words="her", fix="herself", after=r"(?P<also> self)(?=[.!?,])", before=r"\bby\s"),
    Confusion(rule="split_word", words="them", fix="themselves", after=r"(?P<also> selve?s)(?![\w'’-])"),
    Confusion(rule="split_word", words="my", fix="myself", after=r"(?P<also> self)(?=[.!?,])", before=r"\b(?:by|for|to)\s"),
    Confusion(rule="split_word", words="now", fix="nowadays", after=r"(?P<also> a(?: |-)days)(?![\w'’-])"),
    Confusion(rule="split_word", words="some", fix="sometimes", after=r"(?P<also> times)(?= [a-z]+)", before=r"(?:\A|[.!?]\s|\n)(?:I|We|They|He|She|You|It) "),
    Confusion(rule="split_word", words="an a", fix="another", after=r"(?P<also> other)(?![\w'’-])(?! (?:than|side)\b)"),
    Confusion(rule="split_word", words="a", fix="away", after=r"(?P<also> way)(?= with\b)", before=r"\b(?:get|gets|got|getting|run|ran|went) "),
    Confusion(rule="split_word", words="to", fix="tomorrow", after=r"(?P<also> morrow)\b"),
    Confusion(rule="split_word", words="can", fix="cannot", after=r"(?P<also> not)\b(?! (?:only|just)\b)", safe=False),
    Confusion(rule="split_word", words="every", fix="everyone", after=r"(?P<also> one)(?= who\b)", safe=False),
    Confusion(rule="split_word", words="week", fix="weekend", before=r"\b(?:this|next|last|the|every) ", after=r"(?P<also> end)(?=[.!?,]| (?:we|I|they|he|she|and|in|is|was)\b)", safe=False),
)  # fmt: skip
_PREPOSITIONS = (
    Confusion(rule="preposition", words="of from", fix="on", before=r"\bdepend(?:s|ed|ing|ent)? ", after=rf" (?:{_DET}|how|what|which|where|who|when|whether|{_HIM}|it)\b"),
    Confusion(rule="preposition", words="on", fix="in", before=r"\b(?:am|is|are|was|were|be|very|really|not|[’']m|[’']re) interested ", after=r" [a-z]+"),
    Confusion(rule="preposition", words="for", fix="in", before=r"\b(?:am|is|are|was|were|be|very|really|not|[’']m|[’']re) interested ", after=rf" {_DET}\b", safe=False),
    Confusion(rule="preposition", words="about", fix="", before=r"\bdiscuss(?:ed|es|ing)? ", after=rf" (?:{_DET}|how|it|what|these|politics)\b"),
    Confusion(rule="preposition", words="in", fix="on", before=r"(?<!moved )(?<!changed )(?<!postponed )", after=r" (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?(?=[.!?,;]|\Z| (?:morning|afternoon|evening|this|next|and|because|at|with|the|we|I)\b)"),
    Confusion(rule="preposition", words="of from", fix="for", before=r"\bapologi[sz](?:e|es|ed|ing) ", after=rf" (?:{_DET}|\w+ing)\b"),
    Confusion(rule="preposition", words="of", fix="for", before=r"\bresponsible ", after=r" [a-z]+"),
    Confusion(rule="preposition", words="since", fix="for",
              before=r"\b(?:have|has|had|['’]ve|['’]s) (?:been |lived |worked |known )[^.!?]{0,35}", after=r" (?:\d+|two|three|four|five|six|seven|eight|nine|ten|twenty|many|several) (?:minutes|hours|days|weeks|months|years)\b(?! (?:ago|before|back))"),
    Confusion(rule="preposition", words="in", fix="at", after=r" (?:\w+|\d+) o['’]clock\b"),
    Confusion(rule="preposition", words="from", fix="of", before=r"\b(?:afraid|scared|proud) ", after=r" [a-z]+"),
    Confusion(rule="preposition", words="for", fix="of", before=r"\bproud ", after=rf" {_HIS} [a-z]+", safe=False),
    Confusion(rule="preposition", words="in", fix="at", before=r"\bgood ", after=r" (?:chess|maths?|cooking|drawing|singing|dancing|football|tennis|swimming|sports?|languages|mathematics|running|writing)\b"),
    Confusion(rule="preposition", words="with", fix="to", before=r"\bmarried ", after=r" (?:an?|my|his|her|the) [a-z]+(?=[.!?,]| from\b)", safe=False),
    Confusion(rule="preposition", words="with", fix="to", before=r"\b(?:got|get|getting) married ", after=r" an? [A-Z][a-z]+\b"),
    Confusion(rule="preposition", words="to", fix="in", before=r"\barrived? ", after=r" [A-Z][a-z]+\b", safe=False),
    Confusion(rule="preposition", words="to", fix="at", before=r"\barriv(?:e|es|ed|ing) ", after=rf" {_DET} (?:station|airport|hotel|house|school|office|harbour|party)\b"),
    Confusion(rule="preposition", words="in", fix="", before=r"\benter(?:ed|s|ing)? ", after=r" the (?:room|house|building|shop|kitchen|church|hall|office)\b"),
    Confusion(rule="preposition", words="of", fix="between", before=r"\bdifference ", after=r" [a-z]+ and [a-z]+\b", safe=False),
    Confusion(rule="preposition", words="in", fix="and", before=r"\bone ", after=r" the same(?=[.!?,])"),
    Confusion(rule="preposition", words="on", fix="by", before=r"\b(?:it|that|this|vase|cup|glass|him|her|them) ", after=r" accident\b"),
    *(
        Confusion(rule="preposition", words=word, fix=f"{word} to", after=rf" (?:the|a|{_HIS})\b")
        for word in ("listen", "listens", "listened", "listening")
    ),
    *(
        Confusion(rule="preposition", words=word, fix=f"{word} to", after=r" (?:me|him|us|them) (?:the|how|why|that|what|everything|a|about)\b")
        for word in ("explain", "explains", "explained")
    ),
    Confusion(rule="preposition", words="waiting", fix="waiting for", before=r"\b(?:am|is|are|was|were|been|['’]m|['’]re|['’]s) ", after=r" (?:you|me|him|us|them)\b"),
)  # fmt: skip

TABLE = (*_ITS, *_YOUR, *_THEIR, *_THAN, *_SOUNDS, *_JOINED, *_PREPOSITIONS)
