"""The marks of unwanted advertising: its phrases, and how it is set."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial

from sifaka.classifiers.screen import Occurrence, Rule, Screen
from sifaka.text.markdown import code_spans
from sifaka.text.prose import blanked, urls
from sifaka.text.words import count_words

_SURE = (
    r"\b(?:you(?:['’]ve| have)(?: just)? (?:won|been (?:selected|chosen) (?:to|for|as))|"
    r"claim your (?:free |cash )?(?:prize|reward|gift|bonus|winnings)|"
    r"congratulations[,!]* (?:dear )?(?:winner|you(?:['’]ve| have)? won)|"
    r"make (?:money|\$\d[\d,]*|thousands)(?: \w+)? (?:fast|online|from home|quickly|a day)|"
    r"earn (?:up to )?\$\d[\d,]*(?: (?:per|a|each|every) |/)(?:day|week|hour|month)|"
    r"(?:double|triple) your (?:money|income|bitcoin|investment)|get rich quick|"
    r"lose \d+ (?:pounds|lbs|kg|kilos) (?:in|fast)|miracle (?:cure|pill|weight)|"
    r"(?:cheap|discount|buy) (?:viagra|cialis|meds|replica \w+|followers|backlinks)|"
    r"(?:nigerian|foreign) prince|next of kin.{0,40}(?:million|fund)|"
    r"dear (?:beneficiary|lucky winner)|this is not spam|online casino|"
    r"no deposit bonus|hot singles)\b"
)
_TYPICAL = (
    r"\b(?:act now|order now|buy now|call now|limited[- ]time (?:offer|only|deal)|"
    r"(?:offer|sale) (?:expires|ends) (?:soon|today|tonight)|while supplies last|"
    r"click (?:here|below|this link|the link below)(?: (?:now|to (?:claim|win|get|buy)))?|"
    r"100% (?:free|guaranteed|satisfaction|risk[- ]free)|risk[- ]free|money[- ]back guarantee|"
    r"no (?:credit card|obligation|purchase)(?: (?:required|necessary|needed))|"
    r"work from home and|be your own boss|financial freedom|passive income|guaranteed (?:income|"
    r"results|returns|winner)|once in a lifetime|don['’]t (?:miss out|delete this)|"
    r"special promotion|exclusive deal|lowest prices?|free (?:gift|trial|money|access) (?:now|"
    r"today|for you)|subscribe (?:now|to my channel)|dm me|check out my (?:channel|profile|page|"
    r"website)|whatsapp me|what are you waiting for)\b"
)
_SHOUTED = re.compile(r"\b[A-Z]{3,}(?:[^\w\n.]{1,3}[A-Z]{2,}){4,}\b")
_LEGAL = re.compile(
    r"WARRANT|LIAB|LICEN[CS]E|DAMAGE|COPYRIGHT|CONDITION|PURPOSE|PROVIDED|TORT\b|LIMITED TO"
)
"""Licences shout by custom."""
_MARKS = re.compile(r"!{3,}|(?:[!?]){4,}|[$€£]{3,}")
_SHOUTING = Rule("shouting", "", "shouting: {quote}", 2, 0.3)
_EXCLAIMING = Rule("marks", "", "exclamation marks in a row: {quote}", 2, 0.25)
_LINKED = Rule("links", "", "little text between its links: {quote}", 2, 0.3)
_REPEATED = Rule("repeated", "", "the same line {quote} again and again", 3, 0.35)

_LEAST_LINKS = 3
_WORDS_PER_LINK = 8
_LEAST_REPEATS = 3


def _setting(text: str) -> Iterator[Occurrence]:
    """Findings in the setting of the text: shouting, exclamation marks, links, repeated lines."""
    links = urls(text)
    prose = blanked(text, [*code_spans(text), *links])
    for match in _SHOUTED.finditer(prose):
        if not _LEGAL.search(match.group()):
            yield Occurrence(*match.span(), _SHOUTING)
    for match in _MARKS.finditer(prose):
        yield Occurrence(*match.span(), _EXCLAIMING)
    if len(links) >= _LEAST_LINKS and count_words(prose) < _WORDS_PER_LINK * len(links):
        yield Occurrence(*links[0], _LINKED)
    yield from _repeats(prose)


def _repeats(prose: str) -> Iterator[Occurrence]:
    lines = [line.strip() for line in prose.splitlines()]
    counts = Counter(line.lower() for line in lines if len(line.split()) >= 3 and line[0].isalnum())
    for line, count in counts.items():
        if count >= _LEAST_REPEATS:
            start = prose.lower().find(line)
            yield Occurrence(start, start + len(line), _REPEATED)


spam = partial(
    Screen,
    "spam",
    "spam",
    (
        Rule("scam", _SURE, "a phrase of scams: {quote}", 4, 0.7),
        Rule("pitch", _TYPICAL, "a phrase of unwanted advertising: {quote}", 3, 0.4),
    ),
    "explicit phrases, English; shouting, links, repeated lines",
    whole=_setting,
)
"""A screen for phrases of advertising and scams, shouting, links and repeated lines."""
