"""A short call stays short: how many functions it passes, and that it loads nothing back."""

import pytest

from benchmarks.path_length import counted

MOST_FUNCTIONS = 91
"""The functions, methods, properties and lambdas of `sifaka/` that one call of `improve` enters,
without those of the editor, whose rules add theirs only where a text has a sign of a mistake, and
without those that read its tables.

Each counts once, however often it is entered, in whatever thread. Not counted: what Python 3.11
makes of comprehensions and generator expressions (47), methods that dataclasses and pydantic
generate, other packages, and imports.
"""
MOST_OF_THE_EDITOR = 29


@pytest.mark.slow
def test_a_call_with_a_short_text_and_no_model_passes_few_functions() -> None:
    figures = counted()
    assert figures["text"] == "The meeting is on Monday."
    assert figures["functions"] - figures["of the editor"] <= MOST_FUNCTIONS, figures
    assert figures["of the editor"] <= MOST_OF_THE_EDITOR, figures
    assert (figures["loads"], figures["claims"]) == (0, 0)
