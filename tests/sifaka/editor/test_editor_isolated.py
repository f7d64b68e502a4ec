"""The editor beside the event loop."""

from functools import partial
from time import process_time

import pytest

from sifaka.editor import isolated as module
from sifaka.editor.isolated import run_editor
from sifaka.errors import PluginError
from sifaka.isolation import SHORT

pytestmark = pytest.mark.anyio


def busy() -> None:
    """Take more processor time than a worker process has."""
    end = process_time() + 60
    while process_time() < end:
        pass


@pytest.mark.slow
async def test_a_text_that_took_too_long_for_one_part_is_not_tried_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.5)
    text = "long " * SHORT
    with pytest.raises(PluginError, match="too much time"):
        await run_editor(text, busy)
    with pytest.raises(PluginError, match="too much time"):
        await run_editor(text, partial(len, text))
    assert await run_editor(f"{text}.", partial(len, text)) == len(text)


@pytest.mark.slow
async def test_it_is_tried_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.5)
    monkeypatch.setattr(module, "AGAIN", 0.0)
    text = "slow " * SHORT
    with pytest.raises(PluginError, match="too much time"):
        await run_editor(text, busy)
    assert await run_editor(text, partial(len, text)) == len(text)
