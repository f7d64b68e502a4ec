"""Swear words, as far as a list has them."""

from functools import partial

from sifaka.classifiers.screen import Rule, Screen, word

_STRONG = (
    word("fuck", endings=r"s|ed|er|ers|in|in['’]|ing|ingly|face|head|wit|wits|up|ups|able|y|"),
    word("motherfuck", endings=r"er|ers|in|ing"),
    word("fck", "fuk", "fvck", "phuck", endings="s|ed|er|ers|in|ing|"),
    word("shit", "bullshit", "dipshit", "horseshit", "batshit", "apeshit",
         endings=r"s|ty|tier|tiest|ting|head|heads|hole|holes|show|shows|load|loads|face|"),
    word("cunt", "twat", "wanker", "cocksucker"),
    word("asshole", "arsehole", "asshat", "asswipe"),
    word("bitch", endings="es|y|ing|ed|"),
    word("slut", "whore", endings="s|ty|"),
    word("dickhead", "douchebag", "shithead"),
    r"(?<![^\W_])(?:d1ck|d!ck|d\*ck|b1tch|@ss|a\$\$|@sshole|wtf|stfu|gtfo)(?![^\W_])",
)  # fmt: skip
_MILD = (
    word("bastard", "bollocks", "jackass", "dumbass", "badass", "smartass"),
    word("goddamn", endings="ed|it|"),
    word("piss", endings="ed|ing|es|er|ers|"),
    word("crap", endings="py|pier|piest|"),
    r"(?<![^\W_])(?:dammit|damn(?:ed)?(?: it| you)?|arse|arses|ass|lmfao|screw you|what the hell|"
    r"bugger off|bloody hell|son of a bitch)(?![^\W_])",
    # A name in lower case is none: Dick Francis, Moby Dick and Dick Tracy stay.
    r"(?<![^\W_])(?-i:dicks?|DICKS?)(?![^\W_])",
)


profanity = partial(
    Screen,
    "profanity",
    "profanity",
    (
        Rule("strong", "|".join(_STRONG), "strong language: {quote}", 4, 0.95),
        Rule("mild", "|".join(_MILD), "coarse language: {quote}", 2, 0.6),
    ),
    denials=False,
)
"""A screen for swear words: whole words, and simple disguises of them."""
