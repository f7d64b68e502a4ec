"""The instructions of the server to a model: the use of the tools that it offers."""

from collections.abc import Set as AbstractSet

_ADVICE: tuple[tuple[str, str], ...] = (
    (
        "improve_text",
        "Use improve_text when a text has to meet requirements (length, terms, JSON schema, format)"
        " or to\n  be free of mistakes before it is shown or sent. Every hard requirement is one of"
        " `validators`.",
    ),
    (
        "research",
        "Use research for a question that is to be answered from sources: it writes a report that"
        " cites them,\n  or gathers the evidence for you to write it from.",
    ),
    (
        "submit_revision",
        "When it answers `needs_revision`, you are the writer: follow `brief`, then call"
        " submit_revision\n  with the text or with edits of it; repeat until `done`. The best"
        " version is kept: a failed\n  try costs nothing. Decline what is right as it is, with"
        " `accept` or a `reason`.\n  `passed`: nothing is known to be wrong; `checked` says what"
        " was not looked at.",
    ),
    ("validate_text", "Use validate_text for a quick check; it changes nothing."),
    ("critique_text", "Use critique_text to find weak places; it changes nothing."),
    (
        "verify_evidence",
        "Use verify_evidence to hold claims of fact against sources before they are relied on; it"
        " changes nothing.",
    ),
    (
        "resume_run",
        "A run that is `running` goes on by itself: ask for it with resume_run.",
    ),
    (
        "get_thought_history",
        "Use get_thought_history for what happened in a run, or to find past texts.",
    ),
)
"""The tools in the order in which a model meets them, each with when to use it."""


def instructions(tools: AbstractSet[str]) -> str:
    """The instructions of a server that offers these tools, and no others."""
    if "improve_text" in tools:
        what = "Sifaka checks, criticises and improves texts, and remembers every version."
    elif "research" in tools:
        what = "Sifaka answers questions from sources, and remembers every version of its reports."
    elif tools == {"get_thought_history"}:
        what = "Sifaka remembers every version of the texts that were improved with it."
    elif tools == {"verify_evidence"}:
        what = "Sifaka holds the claims of texts against sources; this server stores nothing."
    else:
        what = "Sifaka checks and criticises texts; this server changes and stores nothing."
    return "\n".join([what, *(f"- {advice}" for name, advice in _ADVICE if name in tools)])
