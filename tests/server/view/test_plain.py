"""Without Rich the views print what Rich prints into a pipe."""

import io
from collections.abc import Callable
from typing import Any

import rich.console
import rich.text
from hypothesis import given
from hypothesis import strategies as st

from sifaka_mcp.view import console

TEXTS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), max_size=30)


def printed(make: Callable[[Any, Any], None], modules: tuple[Any, Any]) -> str:
    stream = io.StringIO()
    make(modules[0](file=stream, highlight=False, soft_wrap=True), modules[1])
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


RICH = (rich.console.Console, rich.text.Text)
PLAIN = (console.PlainConsole, console.PlainText)


@given(TEXTS, TEXTS)
def test_texts_are_the_same(first: str, second: str) -> None:
    def make(console: Any, text: Any) -> None:
        line = text.assemble((first, "bold"), "  ", second)
        line.append(" end", style="red")
        console.print(line)
        console.print(text(f"{first}\n{second}"))

    assert printed(make, RICH) == printed(make, PLAIN)


def test_the_views_take_nothing_else_from_rich() -> None:
    assert all(hasattr(console, f"Plain{name}") for name in console.__all__)
