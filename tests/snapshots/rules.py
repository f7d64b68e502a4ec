"""docs/rules.md, made of what the rules say of themselves."""

from collections.abc import Iterator
from pathlib import Path

from sifaka.editor.rules import explanations

PAGE = Path("docs/rules.md")
_HEAD = """# Rules of the editor

What `sifaka check` and the critics `lint` and `style` find, each rule with a sentence that shows
it; `sifaka check --explain RULE` says the same. [Check files](check.md#rules) says how they are
chosen. `make snapshots` writes this page.

| Rule | It finds | For example |
|---|---|---|
"""
_FOOT = (
    '| <a id="harper"></a>`harper.*` | What a rule of [Harper](https://writewithharper.com) finds. '
    "| `sifaka check --explain harper.ModalOf` |\n"
)


def rendered() -> str:
    """The page."""
    return _HEAD + "".join(f"{row}\n" for row in _rows()) + _FOOT


def _rows() -> Iterator[str]:
    told = (each for name in ("default", "style") for each in explanations(name))
    for each in told:
        if each.group == "grammar":
            continue
        example = " → ".join(filter(None, (each.wrong, each.right)))
        yield f'| <a id="{each.rule}"></a>`{each.rule}` | {each.what} | {example} |'
