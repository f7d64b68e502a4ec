"""What the server tells a model at the start: how the tools that it offers are used."""

from collections.abc import Set as AbstractSet

_ADVICE: tuple[tuple[str, str], ...] = (
    (
        "improve_text",
        "Use improve_text when a text has to meet requirements (length, terms, JSON schema, format)"
        " or to\n  be free of mistakes before it is shown or sent. Every hard requirement is one of"
        " `validators`.",
    ),
    (
        "submit_revision",
        "When it answers `needs_revision`, you are the writer: follow `brief`, then call"
        " submit_revision\n  with the whole text; repeat until `done`. The best version is kept: a"
        " failed try costs nothing.",
    ),
    ("validate_text", "Use validate_text for a quick check; it changes nothing."),
    ("critique_text", "Use critique_text to find weak places; it changes nothing."),
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
    elif tools == {"get_thought_history"}:
        what = "Sifaka remembers every version of the texts that were improved with it."
    else:
        what = "Sifaka checks and criticises texts; this server changes and stores nothing."
    return "\n".join([what, *(f"- {advice}" for name, advice in _ADVICE if name in tools)])
