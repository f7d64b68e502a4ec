"""Reasoning that a model writes out before its answer, and the tokens of its chat template."""

import re
from typing import NamedTuple

_NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think"
_OPEN = re.compile(
    rf"^[ \t]*(?:<(?P<name>{_NAMES})>|(?P<square>\[THINK\])|(?P<moon>◁think▷)"
    r"|(?P<channel><\|channel\|?>\s*(?:analysis|thought)(?:<\|message\|>)?))",
    re.IGNORECASE | re.MULTILINE,
)
_CLOSE = re.compile(
    rf"(?:</(?:{_NAMES})>|\[/THINK\]|◁/think▷)(?=\s*(?:$|[^\s\"',\\}}\]]))", re.IGNORECASE
)
_ENDS = {"square": r"\[/THINK\]", "moon": "◁/think▷", "channel": r"<\|end\|>|<channel\|>"}
_ROLE = re.compile(
    r"\A\s*(?:<\|im_start\|>|<\|start_header_id\|>|<\|start\|>|<start_of_turn>|<\|turn>)"
    r"\s*(?:assistant|model)?[ \t]*(?:<\|end_header_id\|>|<\|channel\|>final<\|message\|>)?\s*"
    r"|\A\s*(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"
    r"|\A\s*\[/INST\]\s*|\A\s*<\|assistant\|>\s*",
    re.IGNORECASE,
)
_END = re.compile(
    r"<\|im_end\|>|<\|eot_id\|>|<\|end\|>|<\|endoftext\|>|<\|end_of_text\|>|<end_of_turn>|<turn\|>"
    r"|<\|return\|>|<\|im_start\|>|<start_of_turn>|\[INST\]|</s>\s*(?=\Z|\[INST\]|<)",
    re.IGNORECASE,
)
_LOOKS = re.compile(rf"<\|?/?(?:{_NAMES}|channel|im_|eot|end|start|assistant)|\[/?(?:THINK|INST)\]"
                    r"|</s>|<turn|◁", re.IGNORECASE)  # fmt: skip


class Answer(NamedTuple):
    """A reply without what is not the answer."""

    text: str
    removed: tuple[str, ...] = ()
    """The parts that were taken off, in words."""
    open: bool = False
    """True when reasoning begins and does not end: there may be no answer at all."""


def holds_template(text: str) -> bool:
    """True when a text has tags of reasoning or of chat templates itself."""
    return _LOOKS.search(text) is not None


def answer_of(reply: str) -> Answer:
    """The answer in a reply: without sections of reasoning and tokens of chat templates.

    A section begins a line. One that only ends began in the prompt, as chat templates have it.
    """
    if not holds_template(reply):
        return Answer(reply)
    begun = _ROLE.sub("", reply, count=1)
    text, left_open = _without_reasoning(begun)
    bare = _ROLE.sub("", text, count=1)
    if end := _END.search(bare):
        bare = bare[: end.start()]
    parts = {
        "reasoning": text != begun,
        "tokens of a chat template": (reply, text) != (begun, bare),
    }
    removed = tuple(part for part, is_gone in parts.items() if is_gone)
    return Answer(bare.strip() if removed else reply, removed, left_open)


def _in_json(before: str) -> bool:
    """True when a string of JSON is open at the end."""
    return '{"' in before and before.replace('\\"', "").count('"') % 2 == 1


def _without_reasoning(text: str) -> tuple[str, bool]:
    """The text without its sections of reasoning, and whether one is not closed."""
    opened = _OPEN.search(text)
    closed = _CLOSE.search(text)
    first = closed and (opened is None or closed.start() < opened.start())
    if closed and first and not _in_json(text[: closed.start()]):
        text = text[closed.end() :]
    parts: list[str] = []
    at = 0
    while opened := _OPEN.search(text, at):
        kind = opened.lastgroup or "name"
        end = _ENDS.get(kind) or rf"</{re.escape(opened['name'])}>"
        closing = re.compile(end, re.IGNORECASE).search(text, opened.end())
        parts.append(text[at : opened.start()])
        if closing is None:
            return "".join(parts), True
        at = closing.end()
    return "".join((*parts, text[at:])), False
