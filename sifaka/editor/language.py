"""Finds the paragraphs that are not English, so that rules for English skip them."""

import re
from collections.abc import Iterator

from sifaka.editor.lexicon import lexicon
from sifaka.text.prose import Span

_PARAGRAPH = re.compile(r"\S.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Words of several languages count half, or not at all ("a", "in", "no", "die").
ENGLISH = lexicon(
    "the and of to is that for with are this it you was be from by not have or we can will",
    "your has but they which when if its at there what how more than our were been their",
    "would should could i he she his him them us my these those who where why all any some been",
    "does did do had about into because only also very please here then so get gets got an every",
    "before after while since until without through between again other another each never always",
    "don't doesn't isn't didn't can't won't it's that's",
)
"""The words that most English sentences have some of."""

_OTHER = lexicon(
    # French
    "le les des une est dans avec sur pas vous nous cette ces aux elle elles ils mais où être",
    "avoir",
    "c'est n'est qu'il d'un d'une j'ai l'on je suis êtes sommes ont fait très plus bien merci",
    "bonjour",
    "veuillez voici aussi comme quand tout tous toute leur leurs votre notre faut peut beaucoup",
    "donc",
    # German
    "der das und ist nicht ein eine einen einem einer dem von für sich auch werden wird zu zum",
    "zur im",
    "wir sie auf als aber oder wenn dass ich du er es bin bist sind haben hatte kann können",
    "muss müssen",
    "mir mich dir dich uns euch ihr ihre mein meine dein deine sein seine kein keine nur noch",
    "schon sehr",
    "bitte danke guten guter morgen heute nach bei aus über unter durch wie wo warum weil bis",
    "beim vom",
    # Dutch
    "het een van niet voor zijn deze dit dat wordt ook maar naar bij uit om wat wie waar hoe",
    "kunnen",
    "moet moeten hebben heeft ben bent jij jullie wij zij hij ik je onze geen meer dan nog wel",
    "zeer",
    "graag bedankt hallo goed gaat gaan kan worden mijn jouw zich omdat zou zal daar hier",
    # Spanish
    "el los las una que por para del su sus como más pero muy está están es son fue hay este",
    "esta estos",
    "también cuando donde qué porque sin sobre hasta desde nuestro nuestra gracias hola todo",
    "todos puede",
    # Italian
    "di che per non della delle dello degli dei nel nella sono il gli anche questo questa",
    "questi ma più",
    "è perché quando dove come molto grazie ciao abbiamo hanno essere fatto alla alle dal dalla",
    "siamo",
    # Portuguese
    "os as um uma não com foi são ao aos do da dos das na nas em pelo pela você nós eles isso",
    "isto",
    "muito obrigado obrigada também está estão mas mais quando onde seu sua nosso temos tem",
    # Polish
    "nie się jest że oraz na z w do dla jak ale czy są był była było być to ten ta tego przez",
    "przy od",
    "proszę dziękuję dzień dobry bardzo może tylko już tak mnie mamy gdy jeśli",
    # Swedish, Danish, Norwegian
    "och att det som är på inte till av ett en för med den har var jag du vi ni han hon kan ska",
    "vill",
    "quiero archivo encontrado buenos días señor señora favor tutti buongiorno tutto signore",
    "adresse",
    "zusammen datei hotels bonsoir monsieur madame inconnue hej och godmorgon alla bom tarde",
    "boa noite",
    "tack mycket också eller från när vad hur här där mig dig er og ikke jeg",
)
# English words too: one of them shows nothing, several in a row do.
_SHARED = lexicon(
    "do as to me he an on of is so we has had was plus ten at by be more will it us once come",
    "here",
    "son comment tout mine fait pour or are am most all him her for in per bin du den dig dog na",
    "kan tag may gets mis ma pa uns mich el los las da vi ni ja van die hat war man mit par sur",
)
_POINTS = {
    word: (
        0 if word not in ENGLISH else 1 if word in _SHARED else 2,
        0 if word not in _OTHER else 1 if word in _SHARED or word in ENGLISH else 2,
    )
    for word in ENGLISH | _OTHER
}
"""The points of a word for English, and for other languages."""
_LETTER = re.compile("[ßøłęąśżźćńőűãõğışěřťďůčšžœæåñ]")
_ENDINGS = tuple(
    lexicon(
        "keit heit ungen lich lichen isch ische schaft lijk lijke ción ciones zione zioni ção ções",
        "mente ement eux euse owy owa owych ego ość ości ningen het ij sch tie amos emos iamo iert",
        "ieren",
    )
)
_ENDING = re.compile(rf"\w{{3}}(?:{'|'.join(_ENDINGS)})$")
_SENTENCE = re.compile(r"[^\n.!?…]+")


def foreign(text: str) -> Iterator[Span]:
    """The paragraphs and single sentences that look like another language than English.

    None overlaps another. What gives no evidence of its own goes with the paragraph, or with the
    whole text. A text without any evidence counts as English.
    """
    whole = None  # whether the text is foreign as a whole: most texts need not be asked
    for match in _PARAGRAPH.finditer(text):
        english, other = _evidence(_WORD.findall(match.group()))
        if not english and whole is None:
            in_english, in_others = _evidence(_WORD.findall(text))
            whole = in_others > in_english
        if (other > english and other >= 2) or (whole and not english):
            yield match.span()
        if other < 4 or other > english:
            continue
        for sentence in _SENTENCE.finditer(match.group()):
            english, other = _evidence(_WORD.findall(sentence.group()))
            if other >= 4 and other > english * 2:
                yield match.start() + sentence.start(), match.start() + sentence.end()


def _evidence(words: list[str]) -> tuple[int, int]:
    """Points for English and for other languages: two for a word of one side only."""
    english = other = 0
    for number, word in enumerate(words):
        lowered = word.lower()
        if known := _POINTS.get(lowered):
            # Los Angeles, El Niño, Van der Berg: names of any origin stand in English too.
            if lowered in ENGLISH or not number or not word[0].isupper():
                english += known[0]
                other += known[1]
        elif number and word[0].isupper():
            continue
        elif not lowered.isascii():
            other += 2 if ord(lowered[0]) > 0x36F or _LETTER.search(lowered) else 1
        elif lowered.endswith(_ENDINGS) and _ENDING.search(lowered):
            other += 1
    return english, other
