"""What a terminal is sent: words, and never what it would obey."""

import io

import pytest

from sifaka.chain import Chain, RunResult
from sifaka_mcp.safe_text import visible
from sifaka_mcp.view.terminal import show_run

pytestmark = pytest.mark.anyio

CLIPBOARD = "\x1b]52;c;cm0gLXJm\x07"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\r\nlines\n\tof\u00a0words \U0001f469\u200d\U0001f680", None),
        (f"a{CLIPBOARD}b", "a\\x1b]52;c;cm0gLXJm\\x07b"),
        ("a\x9b31mb\x7f", "a\\x9b31mb\\x7f"),
        ("a\rb", "a\\rb"),
        ("safe \u202etxt.exe", "safe \\u202etxt.exe"),
    ],
)
def test_what_a_terminal_would_obey_is_spelt_out(text: str, shown: str | None) -> None:
    assert visible(text) == (text if shown is None else shown)


async def test_neither_the_text_of_a_run_nor_what_is_said_about_it_moves_the_cursor() -> None:
    text = f"The tower{CLIPBOARD} is 300 m tall.\n"
    spec = {"type": "content", "required": [f"words{CLIPBOARD}"]}
    run = await Chain(model="caller", validators=[spec], critics=()).run("", text=text)
    stream = io.StringIO()
    show_run(RunResult(run=run.run), stream, show_text=True)
    assert "The tower" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
    assert "\x07" not in stream.getvalue()
